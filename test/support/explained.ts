/**
 * Explain is reality: what it says was sent for an answer is what the upstream received, byte for byte.
 * Every gateway of a test is held to it by itself (`watch-explained.ts`); a test that wants to know more
 * of an answer asks for it.
 */
import { expect } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { SentRequest } from '../../src/store/upstream-requests/upstream-request-store-interface.ts'
import { ARRIVED, type Arrived } from './arrived.ts'
import type { Arrival, Upstream } from './upstream.ts'

export interface Explained extends JsonObject {
  readonly items: { readonly list: readonly JsonObject[] } & JsonObject
  readonly cache: JsonObject
  readonly upstream: JsonObject
}

/** Compares the newest request that arrived with what is said of the answer with this id. */
export async function expectExplained(
  gateway: { readonly url: string },
  { received }: Pick<Upstream, 'received'>,
  id: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Explained> {
  const url = `${gateway.url}/v1/context/explain/${id}`
  const sent = received.at(-1)
  const body = await fetch(`${url}?format=body`, { headers })
  expect([body.status, await body.text()]).toEqual([200, sent?.text])
  const told = (await (await fetch(url, { headers })).json()) as Explained
  expect(told.upstream['body']).toEqual(sent?.json)
  expect(new URL(String(told.upstream['url'])).pathname).toBe(sent?.path.replace(/\?.*/, ''))
  const fates = told.items.list
  // What the wire has no word for has been through the transforms.
  const given = fates.filter(({ fate, reasons = [] }) => {
    const bys = (reasons as readonly JsonObject[]).map(({ by }) => by)
    return fate !== 'dropped' || bys.includes(told.upstream['wire'])
  })
  expect(given).toHaveLength(Number(told.items['sent']))
  for (const item of fates) {
    // Nothing is left out or changed without a reason in words.
    if (item['fate'] === 'sent') continue
    expect(item['reasons'], JSON.stringify(item)).toBeDefined()
  }
  return told
}

/**
 * What is wrong with what was kept of a request: it went to this path with this body, or it is not
 * what was sent. What arrived once stands for one request.
 */
export function explainedFaults(
  { body, about }: Pick<SentRequest, 'body' | 'about'>,
  arrived: Arrived,
): readonly string[] {
  const { upstream } = JSON.parse(about) as { upstream: { url: string } }
  const { pathname, search } = new URL(upstream.url)
  const told: Arrival = { path: pathname + search, text: body }
  return arrived.claim(told) ? [] : [`did not arrive: ${told.path} ${arrived.difference(told)}`]
}

/**
 * The same for a gateway that nobody can look into. One that is killed may have told an answer to its
 * end and not have kept the request: then it is not told what was sent, and never something else.
 */
export async function expectArrivedIfKept(
  { url }: { readonly url: string },
  id: string,
): Promise<'kept' | 'not kept'> {
  const told = await fetch(`${url}/v1/context/explain/${id}`)
  const about = await told.text()
  if (told.status === 404) return 'not kept'
  const body = await (await fetch(`${url}/v1/context/explain/${id}?format=body`)).text()
  expect(explainedFaults({ body, about }, ARRIVED)).toEqual([])
  return 'kept'
}

/** The picture of it, held to its width. */
export async function pictureOf(
  gateway: { readonly url: string },
  id: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/context/explain/${id}`, {
    headers: { accept: 'text/plain', ...headers },
  })
  const text = await answer.text()
  for (const line of text.split('\n')) expect(Array.from(line).length).toBeLessThanOrEqual(80)
  return text
}
