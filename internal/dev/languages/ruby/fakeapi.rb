# Starts fakeapi servers for tests, and controls them. It needs no gems.
require 'json'
require 'net/http'
require 'uri'

# A Kubernetes API server: its url, its kubeconfig as text, and the URL of its control API.
class Fakeapi
  BINARY = ENV.fetch('FAKEAPI', 'fakeapi') # the path of the fakeapi binary

  attr_reader :url, :kubeconfig, :control_url

  # Starts "fakeapi serve" with flags. The server also ends with this process.
  def self.start(*flags)
    pipe = IO.popen([BINARY, 'serve', '--output=json', '--control-address=127.0.0.1:0', '--until-stdin-ends', *flags], 'r+')
    line = pipe.gets or raise 'fakeapi serve failed'
    ready = JSON.parse(line)
    new(ready['url'], File.read(ready['kubeconfig']), ready['controlURL']) { pipe.close }
  end

  def initialize(url, kubeconfig, control_url, &close)
    @url, @kubeconfig, @control_url, @close = url, kubeconfig, control_url, close
  end

  def close
    @close.call
  end

  # Sends a request to the control API, which documents itself at GET /, and returns the response.
  def control(method, path, body = nil, accept: 'application/json')
    uri = URI(control_url + path)
    response = Net::HTTP.start(uri.host, uri.port) { |http| http.send_request(method, uri.request_uri, body, 'Accept' => accept) }
    raise "#{method} #{path}: #{response.body}" unless response.is_a?(Net::HTTPSuccess)

    response.body
  end

  # Adds a fault, such as "expire410" or "busy: when verb(list) do status(429)", and returns its name.
  def add_fault(rule)
    JSON.parse(control('POST', '/faults', rule))['rules'][0]['name']
  end

  # Waits until a fault has happened, and returns what it was applied to.
  def wait_for_hit(fault, count: 1, timeout: '60s')
    hits = JSON.parse(control('GET', "/hits?rule=#{URI.encode_www_form_component(fault)}&wait=#{timeout}&count=#{count}"))
    raise "#{fault} did not happen\n#{timeline}" unless hits['met']

    hits['hits']
  end

  # Returns the requests, watch events and faults as text, or for text/html as a page for a browser.
  def timeline(accept: 'text/plain')
    control('GET', '/timeline', accept: accept)
  end

  # Starts a server with the objects of this one.
  def fork(name)
    path = "/forks/#{URI.encode_www_form_component(name)}"
    fork = JSON.parse(control('POST', path))
    Fakeapi.new(fork['url'], fork['kubeconfig'], fork['controlURL']) { control('DELETE', path) }
  end
end
