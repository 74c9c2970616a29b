import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { expect, test as base, vi } from 'vitest';
import { type Server, start } from './fakeapi.mjs';

const server = await start(); // also with flags, such as '--load=manifests' for objects that are there when a test begins

/** A test with a server of its own, the configuration of a client, and a client. */
const test = base.extend<{ apiserver: Server; config: KubeConfig; core: CoreV1Api }>({
  apiserver: async ({ task }, use) => {
    const apiserver = await server.fork(task.name);
    await use(apiserver);
    if (task.result?.state === 'fail') console.error(await apiserver.timeline());
    await apiserver.close();
  },
  config: async ({ apiserver }, use) => {
    const config = new KubeConfig();
    config.loadFromFile(apiserver.kubeconfig);
    await use(config);
  },
  core: async ({ config }, use) => use(config.makeApiClient(CoreV1Api)),
});

const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;

test('an informer after a cut watch and expired history', async ({ apiserver, config, core }) => {
  const informer = makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace }));
  const restart = () => void informer.start();
  informer.on('error', restart);
  await informer.start();
  const create = (name: string) => core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
  const until = (name: string) => vi.waitUntil(() => informer.get(name, namespace), { timeout: 60_000 });
  await create('a');
  await until('a');

  const cut = await apiserver.addFault('cut: when event(ADDED) && resource(configmaps) && first(1) do reset');
  await create('b');
  await apiserver.waitForHit(cut);
  await until('b');

  await apiserver.addFault('ended: when event(ADDED) && resource(configmaps) && first(1) do end');
  const expired = await apiserver.addFault('expire410(resource(configmaps), first(1))');
  await create('c');
  await apiserver.waitForHit(expired);
  await until('c');

  informer.off('error', restart); // stop would call it
  await informer.stop();
});

test('a lost reply', async ({ apiserver, core }) => {
  await apiserver.addFault('lost: when verb(create) && resource(configmaps) && during(committed) && first(1) do reset');
  const create = () => core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' } } });
  await expect(create()).rejects.toThrow();
  await expect(create()).rejects.toMatchObject({ code: 409 }); // the first request was carried out
});
