import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { start } from './fakeapi.mjs';

const server = await start(); // also with flags, such as '--load=manifests' for objects that are there when a test begins

/** Runs a test with a server of its own and a client's configuration for it. */
function withServer(run) {
  return async (t) => {
    const apiserver = await server.fork(t.name);
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
  };
}

test('a ConfigMap is stored', withServer(async (config) => {
  const core = config.makeApiClient(CoreV1Api);
  await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'a' }, data: { key: '1' } } });
  const stored = await core.readNamespacedConfigMap({ namespace: 'default', name: 'a' });
  assert.deepEqual(stored.data, { key: '1' });
}));

test('each test has a server of its own', withServer(async (config) => {
  const list = await config.makeApiClient(CoreV1Api).listNamespacedConfigMap({ namespace: 'default' });
  assert.deepEqual(list.items, []);
}));
