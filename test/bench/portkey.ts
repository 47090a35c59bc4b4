/**
 * The peer that Backstory is compared with. npm installs it for the run into a folder that git ignores; if
 * that fails, its column is missing. It runs without logs and web page.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startNode, untilPortAnswers } from './children.ts'
import type { Child } from './children.ts'

export const PORTKEY = '@portkey-ai/gateway'

// With the server version that its range selects today, all its streamed answers are a 500.
const manifest = {
  private: true,
  dependencies: { [PORTKEY]: '1.15.2', '@hono/node-server': '1.13.5' },
  overrides: { '@hono/node-server': '1.13.5' },
}

/** Returns the script that starts it. Throws if npm is too slow. */
export async function fetchPortkey(timeoutMs: number): Promise<string> {
  const folder = fileURLToPath(new URL('../../.bench/portkey', import.meta.url))
  const script = join(folder, 'node_modules', PORTKEY, 'build/start-server.js')
  if (existsSync(script) && existsSync(join(folder, 'complete'))) return script
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await promisify(execFile)('npm', args, { cwd: folder, timeout: timeoutMs })
  // Marks the installation as complete, so that an interrupted one is repeated.
  writeFileSync(join(folder, 'complete'), '')
  return script
}

export async function startPortkey(
  script: string,
  cwd: string,
): Promise<{ readonly child: Child; readonly port: number }> {
  const port = await freePort()
  const args = [script, `--port=${port}`, '--headless']
  const child = startNode({ args, cwd, env: { NODE_ENV: 'production' } })
  await untilPortAnswers(child, port)
  return { child, port }
}

/** Portkey does not print its port, so the caller must choose a free one. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
