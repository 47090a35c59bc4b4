/** A plain HTTP client of a gateway. */
import type { Json, JsonObject } from './json.ts'

export interface Client {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly get: (path: string) => Promise<Answer>
  readonly post: (path: string, body: JsonObject, headers?: object) => Promise<Answer>
  readonly put: (path: string, body: JsonObject) => Promise<Answer>
  readonly delete: (path: string) => Promise<Answer>
}

export interface Answer {
  readonly status: number
  /** Body of the response: the parsed value if it is JSON, else the text. */
  readonly body: Json
}

/** A key, and optionally one of its users. */
export interface Visitor {
  readonly key: 'ada' | 'bob'
  readonly user?: string
}

export function createClient(url: string, { key, user }: Visitor): Client {
  const own = {
    authorization: `Bearer key-of-${key}`,
    ...(user === undefined ? {} : { 'x-backstory-user': user }),
  }
  const call = async (method: string, path: string, body?: JsonObject, more = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...own, ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: /^[{[]/.test(text) ? (JSON.parse(text) as Json) : text }
  }
  return {
    url,
    headers: own,
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, body, headers),
    put: (path, body) => call('PUT', path, body),
    delete: (path) => call('DELETE', path),
  }
}
