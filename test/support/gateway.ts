/**
 * Starts a complete gateway on Node in this process, on a free port, with the official SDK as its client.
 * After each test and when it closes, the requests that it reports are compared with those received.
 *
 * A number in a test title, e.g. (C45), is the number of a capability in the project's list of capabilities.
 */
import OpenAI from 'openai'
import { expect } from 'vitest'
import type { Log } from '../../src/core/ports/log-interface.ts'
import { serveNode } from '../../src/main/serve-node.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import { watchExplanations, type Watch } from './watch-explained.ts'
import { watches } from './open-watches.ts'

export interface LogLine {
  readonly level: string
  readonly event: string
  readonly fields: Parameters<Log>[2]
}

export interface Excuse {
  /** Why stored answers of this gateway may lack their requests. */
  readonly unexplained: string
}

export async function startGateway(
  environment: Readonly<Record<string, string>> = {},
  { unexplained }: Partial<Excuse> = {},
) {
  const lines: LogLine[] = []
  const serving = await serveNode(
    { PORT: '0', DATABASE_URL: 'sqlite::memory:', MEDIA_FETCH: 'off', ...environment },
    {},
    (level, event, fields) => lines.push({ level, event, fields }),
  )
  const watch = watchExplanations(serving.dependencies, unexplained)
  watches.add(watch)
  checkBeforeClose(serving.dependencies.store, watch)
  return {
    ...serving,
    log: lines,
    watch,
    openai: openaiFor(serving.url),
    post: (path: string, body: unknown, headers = {}) =>
      fetch(serving.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

/** Checks when the store closes: every answer has ended, and the database is still open. */
function checkBeforeClose(store: GatewayDependencies['store'], watch: Watch): void {
  const { close } = store
  const closed = async () => {
    watches.delete(watch)
    const faults = await watch.findLastFaults()
    await close()
    expect(faults).toEqual([])
  }
  Object.assign(store, { close: closed })
}

export function openaiFor(url: string, apiKey = 'any'): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
}

export function upstreams(...list: readonly Record<string, unknown>[]): { UPSTREAMS: string } {
  return { UPSTREAMS: JSON.stringify(list) }
}
