// Starts fakeapi servers for tests, and controls them.
// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const binary = process.env.FAKEAPI ?? 'fakeapi'; // the path of the fakeapi binary
const directory = mkdtempSync(join(tmpdir(), 'fakeapi-'));
process.on('exit', () => rmSync(directory, { recursive: true }));

/** A Kubernetes API server: its url, the path of a kubeconfig, and the URL of its control API. */
export class Server {
  /** @param {{url: string, kubeconfig: string, control: string}} ready @param {() => Promise<void>} close */
  constructor({ url, kubeconfig, control }, close) {
    this.url = url;
    this.kubeconfig = kubeconfig;
    this.control = control;
    this.close = close;
  }

  /**
   * Returns the response of the control API to a request, such as GET /hits.
   * @param {string} method @param {string} path @param {string} [body]
   */
  async request(method, path, body, accept = 'application/json') {
    const response = await fetch(this.control + path, { method, body, headers: { accept } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return text;
  }

  /** Adds fault rules, such as "expire410" or "busy: when verb(list) do status(429)". @param {string[]} rules */
  async addFaults(...rules) {
    await this.request('POST', '/faults', rules.join('\n'));
  }

  /** Returns what a rule did to requests and watch events. @param {string} rule */
  async hits(rule) {
    return JSON.parse(await this.request('GET', '/hits')).hits.filter((/** @type {any} */ h) => h.rule === rule);
  }

  /** Waits until a rule has hit. @param {string} rule */
  async waitForHit(rule, count = 1, timeout = 10_000) {
    for (const deadline = Date.now() + timeout; (await this.hits(rule)).length < count; ) {
      if (Date.now() > deadline) throw new Error(`no hit of ${rule}\n${await this.timeline()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Returns the requests, watch events and faults, as text. In a browser: control + "/timeline". */
  timeline() {
    return this.request('GET', '/timeline', undefined, 'text/plain');
  }

  /** Starts a server with the objects of this one. @param {string} name */
  async fork(name) {
    const path = `/forks/${encodeURIComponent(name)}`;
    const fork = JSON.parse(await this.request('POST', path)).forks[0];
    const kubeconfig = join(directory, encodeURIComponent(name));
    const { readFileSync } = await import('node:fs');
    writeFileSync(kubeconfig, readFileSync(this.kubeconfig, 'utf8').replaceAll(this.url, fork.url));
    return new Server({ url: fork.url, kubeconfig, control: fork.url + '/fakeapi/v1' }, async () => void (await this.request('DELETE', path)));
  }
}

/** Starts "fakeapi serve" with flags. It ends with this process. @param {string[]} flags */
export async function start(...flags) {
  const child = spawn(binary, ['serve', '--output', 'json', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => child.kill());
  const lines = createInterface(child.stdout);
  const [line] = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(([status]) => Promise.reject(new Error(`${binary} serve ended with status ${status}`))),
  ]);
  child.unref(); // it does not keep this process running
  child.stdout.unref();
  return new Server(JSON.parse(line), async () => void child.kill());
}
