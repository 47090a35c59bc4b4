/** A whole gateway on Node in this process, on a port of its own, with the official SDK to talk to it. */
import OpenAI from 'openai'
import { serveNode } from '../../src/serve-node.ts'
import type { Log } from '../../src/world.ts'

export interface LogLine {
  readonly level: string
  readonly event: string
  readonly fields: Parameters<Log>[2]
}

export async function startGateway(environment: Readonly<Record<string, string>> = {}) {
  const lines: LogLine[] = []
  const serving = await serveNode(
    { PORT: '0', DATABASE_URL: 'sqlite::memory:', MEDIA_FETCH: 'off', ...environment },
    {},
    (level, event, fields) => lines.push({ level, event, fields }),
  )
  return {
    ...serving,
    log: lines,
    openai: openaiFor(serving.url),
    post: (path: string, body: unknown, headers = {}) =>
      fetch(serving.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

export function openaiFor(url: string, apiKey = 'any'): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
}

export function upstreams(...list: readonly Record<string, unknown>[]): { UPSTREAMS: string } {
  return { UPSTREAMS: JSON.stringify(list) }
}
