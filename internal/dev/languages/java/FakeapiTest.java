import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A test of the control API, and of requests of the HTTP client of the JDK. */
final class FakeapiTest {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final String CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

    public static void main(String[] args) throws Exception {
        Fakeapi server = Fakeapi.fromEnvironment();
        Fakeapi fork = server.fork("a fork");
        String url = urlOf(fork.kubeconfig());
        fork.addFault("lost: when verb(create) && resource(configmaps) && during(committed) && first(1) do reset");
        try {
            create(url);
            throw new AssertionError("there was a response");
        } catch (IOException expected) {
            fork.waitForHit("lost");
        }
        check(create(url) == 409, "the first request was carried out");

        fork.addFault("expired: expire410(resource(configmaps), first(1))");
        HttpResponse<String> events = HTTP.send(get(url + CONFIG_MAPS + "?watch=true&resourceVersion=1"), BodyHandlers.ofString());
        check(events.body().contains("\"code\":410"), events.body());
        fork.waitForHit("expired");
        check(fork.timeline().contains("! expired"), fork.timeline());

        check(HTTP.send(get(urlOf(server.kubeconfig()) + CONFIG_MAPS + "/a"), BodyHandlers.ofString()).statusCode() == 404,
            "the server has the object of its fork");
        server.closeFork("a fork");
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    private static String urlOf(String kubeconfig) {
        Matcher server = Pattern.compile("server: (\\S+)").matcher(kubeconfig);
        check(server.find(), kubeconfig);
        return server.group(1);
    }

    private static HttpRequest get(String url) {
        return HttpRequest.newBuilder(URI.create(url)).build();
    }

    private static int create(String url) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + CONFIG_MAPS)).header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"metadata\": {\"name\": \"a\"}}")).build();
        return HTTP.send(request, BodyHandlers.ofString()).statusCode();
    }
}
