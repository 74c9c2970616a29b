import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The control API of a fakeapi server. It needs Java 17 and no libraries. */
public record Fakeapi(String controlUrl) {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final Pattern CONTROL_URL = Pattern.compile("\"controlURL\":\"([^\"]+)\"");

    /** Returns that of the server of "fakeapi exec -- COMMAND". */
    public static Fakeapi fromEnvironment() {
        return new Fakeapi(System.getenv("FAKEAPI_CONTROL"));
    }

    /** Sends a request to the control API, which documents itself at GET /, and returns the response. */
    public HttpResponse<String> control(String method, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(controlUrl + path))
            .header("Accept", path.equals("/timeline") ? "text/plain" : "application/json")
            .method(method, BodyPublishers.ofString(body)).build();
        try {
            HttpResponse<String> response = HTTP.send(request, BodyHandlers.ofString());
            if (response.statusCode() >= 300) {
                throw new IllegalStateException(method + " " + path + ": " + response.body());
            }
            return response;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Adds a fault, such as "expired: expire410" or "busy: when verb(list) do status(429)". */
    public void addFault(String rule) {
        control("POST", "/faults", rule);
    }

    /** Waits until the fault with a name has happened. */
    public void waitForHit(String name) {
        HttpResponse<String> hits = control("GET", "/hits?wait=60s&rule=" + encode(name), "");
        if (!hits.headers().firstValue("Fakeapi-Met").equals(Optional.of("true"))) {
            throw new AssertionError(name + " did not happen\n" + timeline());
        }
    }

    /** Returns the requests, watch events and faults. In a browser: controlUrl() + "/timeline". */
    public String timeline() {
        return control("GET", "/timeline", "").body();
    }

    /** Returns a kubeconfig for the server. */
    public String kubeconfig() {
        return control("GET", "/kubeconfig", "").body();
    }

    /** Starts a server with the objects of this one. */
    public Fakeapi fork(String name) {
        Matcher fork = CONTROL_URL.matcher(control("POST", "/forks/" + encode(name), "").body());
        if (!fork.find()) {
            throw new IllegalStateException("no controlURL");
        }
        return new Fakeapi(fork.group(1));
    }

    public void closeFork(String name) {
        control("DELETE", "/forks/" + encode(name), "");
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
