import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { start } from './fakeapi.mjs';

const server = await start();
after(() => server.close());

/** Returns a test with a server of its own. */
function onFork(run) {
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

test('a ConfigMap is stored', onFork(async (config) => {
  const core = config.makeApiClient(CoreV1Api);
  await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'a' }, data: { key: '1' } } });
  const stored = await core.readNamespacedConfigMap({ name: 'a', namespace: 'default' });
  assert.deepEqual(stored.data, { key: '1' });
}));

test('each test has a server of its own', onFork(async (config) => {
  const core = config.makeApiClient(CoreV1Api);
  const list = await core.listNamespacedConfigMap({ namespace: 'default' });
  assert.ok(!list.items.some((item) => item.metadata.name === 'a'));
}));
