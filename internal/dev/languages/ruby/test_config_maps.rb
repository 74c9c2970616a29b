require 'kubeclient'
require 'minitest/autorun'
require 'yaml'
require_relative 'fakeapi'

class TestConfigMaps < Minitest::Test
  SERVER = Fakeapi.start # also with flags, such as '--load=manifests' for objects that are there when a test begins

  def setup
    @apiserver = SERVER.fork(name)
    context = Kubeclient::Config.new(YAML.safe_load(@apiserver.kubeconfig), nil).context
    @core = Kubeclient::Client.new(context.api_endpoint, 'v1', ssl_options: context.ssl_options, auth_options: context.auth_options)
  end

  def teardown
    puts @apiserver.timeline unless passed?
    @apiserver.close
  end

  def config_map(name, data = {})
    Kubeclient::Resource.new(metadata: { name: name, namespace: 'default' }, data: data)
  end

  def test_objects
    created = @core.create_config_map(config_map('a', key: '1'))
    assert_equal '1', @core.get_config_map('a', 'default').data.key
    @core.patch_config_map('a', { data: { key: '2' } }, 'default')
    assert_equal '2', @core.get_config_map('a', 'default').data.key
    conflict = assert_raises(Kubeclient::HttpError) { @core.update_config_map(created) }
    assert_equal 409, conflict.error_code
    @core.delete_config_map('a', 'default')
    assert_raises(Kubeclient::ResourceNotFoundError) { @core.get_config_map('a', 'default') }
  end

  def test_watch_after_expired_history
    version = @core.get_config_maps(namespace: 'default').resourceVersion
    @core.create_config_map(config_map('a'))
    expired = @apiserver.add_fault('expire410(resource(configmaps), first(1))')
    types = []
    @core.watch_config_maps(namespace: 'default', resource_version: version) { |event| types << event.type }
    assert_equal ['ERROR'], types
    @apiserver.wait_for_hit(expired)
    @core.watch_config_maps(namespace: 'default', resource_version: version) do |event|
      types << event.type
      break
    end
    assert_equal %w[ERROR ADDED], types
  end

  def test_cut_watch
    @apiserver.add_fault('cut: when event(ADDED) && name(b) && first(1) do reset')
    %w[a b].each { |name| @core.create_config_map(config_map(name)) }
    names = []
    assert_raises(StandardError) do
      @core.watch_config_maps(namespace: 'default') { |event| names << event.object.metadata.name }
    end
    assert_equal ['a'], names
  end

  def test_lost_reply
    @apiserver.add_fault('lost: when verb(create) && resource(configmaps) && during(committed) && first(1) do reset')
    assert_raises(StandardError) { @core.create_config_map(config_map('a')) }
    assert_raises(Kubeclient::HttpError) { @core.create_config_map(config_map('a')) } # the first request was carried out
  end

  def test_server_side_apply
    @core.apply_config_map({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' }, data: { key: '1' } }, field_manager: 'tests')
    assert_equal 'tests', @core.get_config_map('a', 'default').metadata.managedFields[0].manager
  end
end
