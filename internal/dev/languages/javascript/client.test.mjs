// The calls of the client: objects, patches, errors, watches, informers, over HTTP and HTTPS.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ApiextensionsV1Api, AppsV1Api, CoreV1Api, CustomObjectsApi, KubeConfig, KubernetesObjectApi, PatchStrategy, Watch,
  makeInformer, setHeaderOptions,
} from '@kubernetes/client-node';
import { start } from './fakeapi.mjs';

const namespace = 'kube-public';

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.shop.example.com' },
  spec: {
    group: 'shop.example.com', scope: 'Namespaced', names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [{
      name: 'v1', served: true, storage: true,
      schema: { openAPIV3Schema: { type: 'object', properties: {
        spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } } } } },
    }],
  },
};

function deployment(name) {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace, labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } } },
  };
}

function eventually(condition, what) {
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => {
      if (condition()) finish(resolve);
    }, 10);
    const limit = setTimeout(() => finish(() => reject(new Error(`never: ${what}`))), 60_000);
    function finish(how) {
      clearInterval(timer);
      clearTimeout(limit);
      how();
    }
  });
}

for (const flags of [[], ['--tls'], ['--authorization-mode=RBAC']]) {
  const server = await start(...flags);
  describe(`fakeapi serve ${flags.join(' ')}`, () => {

    function onFork(name, run) {
      test(name, async () => {
        const apiserver = await server.fork(name);
        const config = new KubeConfig();
        config.loadFromFile(apiserver.kubeconfig);
        try {
          await run(config, apiserver);
        } catch (error) {
          console.error(await apiserver.timeline());
          throw error;
        } finally {
          await apiserver.close();
        }
      });
    }

    onFork('objects', async (config) => {
      const core = config.makeApiClient(CoreV1Api);
      const created = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' }, data: { key: '1' } } });
      assert.ok(created.metadata.creationTimestamp instanceof Date);
      const stale = structuredClone(created);
      created.data.key = '2';
      const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: created });
      assert.equal(replaced.data.key, '2');
      await assert.rejects(core.replaceNamespacedConfigMap({ namespace, name: 'a', body: stale }), (error) => {
        assert.equal(error.code, 409);
        assert.equal(JSON.parse(error.body).reason, 'Conflict');
        return true;
      });
      await assert.rejects(core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'A b' } } }), { code: 422 });
      await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
      await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'a' }), { code: 404 });
    });

    onFork('lists', async (config) => {
      const core = config.makeApiClient(CoreV1Api);
      for (const i of [0, 1, 2, 3, 4]) {
        await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: `m${i}`, labels: { even: String(i % 2 === 0) } } } });
      }
      const first = await core.listNamespacedConfigMap({ namespace, labelSelector: 'even=true', limit: 2 });
      assert.deepEqual(first.items.map((item) => item.metadata.name), ['m0', 'm2']);
      const second = await core.listNamespacedConfigMap({ namespace, labelSelector: 'even=true', limit: 2, _continue: first.metadata._continue });
      assert.deepEqual(second.items.map((item) => item.metadata.name), ['m4']);
      await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'even=true' });
      const left = await core.listNamespacedConfigMap({ namespace, labelSelector: 'even' });
      assert.deepEqual(left.items.map((item) => item.metadata.name), ['m1', 'm3']);
    });

    onFork('patches', async (config) => {
      const apps = config.makeApiClient(AppsV1Api);
      await apps.createNamespacedDeployment({ namespace, body: deployment('web') });
      const patch = async (strategy, body, parameters = {}) => {
        const patched = await apps.patchNamespacedDeployment({ name: 'web', namespace, body, ...parameters }, setHeaderOptions('Content-Type', strategy));
        return patched.spec.template.spec.containers.map((container) => `${container.name}=${container.image}`);
      };
      const containers = (list) => ({ spec: { template: { spec: { containers: list } } } });
      assert.deepEqual(await patch(PatchStrategy.StrategicMergePatch, containers([{ name: 'side', image: 'busybox' }])), ['side=busybox', 'main=nginx']);
      assert.deepEqual(await patch(PatchStrategy.MergePatch, containers([{ name: 'only', image: 'redis' }])), ['only=redis']);
      const path = '/spec/template/spec/containers/0/image';
      assert.deepEqual(await patch(PatchStrategy.JsonPatch, [{ op: 'test', path, value: 'redis' }, { op: 'replace', path, value: 'valkey' }]), ['only=valkey']);
      await assert.rejects(patch(PatchStrategy.JsonPatch, [{ op: 'test', path, value: 'redis' }]), { code: 422 });
      const applied = { ...deployment('web'), ...containers([{ name: 'only', image: 'nginx' }]) };
      await assert.rejects(patch(PatchStrategy.ServerSideApply, applied, { fieldManager: 'tests' }), { code: 409 });
      assert.deepEqual(await patch(PatchStrategy.ServerSideApply, applied, { fieldManager: 'tests', force: true }), ['only=nginx']);
    });

    onFork('objects of any kind', async (config) => {
      const objects = KubernetesObjectApi.makeApiClient(config);
      await objects.create(deployment('web'));
      const read = await objects.read({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace } });
      assert.equal(read.spec.replicas, 1);
      await objects.delete(read);
    });

    onFork('custom objects', async (config) => {
      await config.makeApiClient(ApiextensionsV1Api).createCustomResourceDefinition({ body: definition });
      const custom = config.makeApiClient(CustomObjectsApi);
      const widgets = { group: 'shop.example.com', version: 'v1', namespace, plural: 'widgets' };
      const widget = { apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 } };
      await custom.createNamespacedCustomObject({ ...widgets, body: widget });
      assert.equal((await custom.listNamespacedCustomObject(widgets)).items[0].spec.size, 1);
      const invalid = { ...widget, metadata: { name: 'v' }, spec: { size: 0 } };
      await assert.rejects(custom.createNamespacedCustomObject({ ...widgets, body: invalid }), { code: 422 });
    });

    onFork('a watch', async (config) => {
      const core = config.makeApiClient(CoreV1Api);
      const { metadata } = await core.listNamespacedConfigMap({ namespace });
      const events = [];
      let ended;
      const controller = await new Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, { resourceVersion: metadata.resourceVersion },
        (type, object) => events.push(`${type} ${object.metadata.name}`), (error) => { ended = { error }; });
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' } } });
      await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
      await eventually(() => events.length === 2, 'two events');
      assert.deepEqual(events, ['ADDED a', 'DELETED a']);
      controller.abort();
      await eventually(() => ended, 'the end of the watch');
    });

    onFork('an informer after a cut watch and expired history', async (config, apiserver) => {
      const core = config.makeApiClient(CoreV1Api);
      const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
      const names = () => informer.list(namespace).map((item) => item.metadata.name).sort();
      const create = (name) => core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
      const errors = [];
      const restart = (error) => {
        errors.push(error);
        informer.start();
      };
      informer.on('error', restart);
      await informer.start();
      await create('a');
      await eventually(() => names().includes('a'), 'a');

      const cut = await apiserver.addFault('cut: when event(ADDED) && resource(configmaps) && first(1) do reset');
      await create('b');
      await apiserver.waitForHit(cut);
      await eventually(() => names().includes('b'), 'b after a cut');
      assert.equal(errors.length, 1);

      await apiserver.addFault('ended: when event(ADDED) && resource(configmaps) && first(1) do end');
      const expired = await apiserver.addFault('expire410(resource(configmaps), first(1))');
      await create('c');
      await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
      await apiserver.waitForHit(expired);
      await eventually(() => !names().includes('a'), 'the list without a');
      assert.ok(names().includes('c'));
      assert.equal(errors.length, 1, 'a 410 is not an error of the informer');
      informer.off('error', restart); // which stop would call
      await informer.stop();
    });
  });
}
