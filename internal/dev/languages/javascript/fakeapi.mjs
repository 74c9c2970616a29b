// @ts-check
// Starts fakeapi servers for tests, and controls them. It needs Node 20 and no packages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const binary = process.env.FAKEAPI ?? 'fakeapi'; // the path of the fakeapi binary

/** A Kubernetes API server: its url, the path of its kubeconfig, and the URL of its control API. */
export class Server {
  /** @param {string} url @param {string} kubeconfig @param {string} controlURL @param {() => Promise<void>} close */
  constructor(url, kubeconfig, controlURL, close) {
    this.url = url;
    this.kubeconfig = kubeconfig;
    this.controlURL = controlURL;
    this.close = close;
  }

  /**
   * Sends a request to the control API, which documents itself at GET /, and returns the response.
   * @param {string} method @param {string} path @param {string} [body]
   */
  async control(method, path, body, accept = 'application/json') {
    const response = await fetch(this.controlURL + path, { method, body, headers: { accept } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return text;
  }

  /**
   * Adds a fault, such as "expire410" or "busy: when verb(list) do status(429)", and returns its name.
   * @param {string} rule @returns {Promise<string>}
   */
  async addFault(rule) {
    return JSON.parse(await this.control('POST', '/faults', rule)).rules[0].name;
  }

  async clearFaults() {
    await this.control('DELETE', '/faults');
  }

  /** Waits until a fault has happened, and returns what it was applied to. @param {string} fault */
  async waitForHit(fault, count = 1, timeout = '60s') {
    const hits = JSON.parse(await this.control('GET', `/hits?rule=${encodeURIComponent(fault)}&wait=${timeout}&count=${count}`));
    if (!hits.met) throw new Error(`${fault} did not happen\n${await this.timeline()}`);
    return hits.hits;
  }

  /** Returns the requests, watch events and faults as text, or for text/html as a page for a browser. */
  timeline(accept = 'text/plain') {
    return this.control('GET', '/timeline', undefined, accept);
  }

  /** Starts a server with the objects of this one. @param {string} name */
  async fork(name) {
    const path = `/forks/${encodeURIComponent(name)}`;
    const fork = JSON.parse(await this.control('POST', path));
    const directory = mkdtempSync(join(tmpdir(), 'fakeapi-'));
    const kubeconfig = join(directory, 'kubeconfig');
    writeFileSync(kubeconfig, fork.kubeconfig);
    return new Server(fork.url, kubeconfig, fork.controlURL, async () => {
      rmSync(directory, { recursive: true });
      await this.control('DELETE', path);
    });
  }
}

/** Starts "fakeapi serve" with flags. The server ends with this process. @param {string[]} flags */
export async function start(...flags) {
  const child = spawn(binary, ['serve', '--output=json', '--control-address=127.0.0.1:0', '--until-stdin-ends', ...flags],
    { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([status]) => Promise.reject(new Error(`fakeapi serve ended with status ${status}`)));
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  ended.catch(() => {});
  for (const handle of [child, child.stdin, child.stdout]) /** @type {any} */ (handle).unref(); // tests end without close
  const ready = JSON.parse(line);
  return new Server(ready.url, ready.kubeconfig, ready.controlURL, async () => void child.stdin.end());
}
