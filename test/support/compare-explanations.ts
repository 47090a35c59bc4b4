/**
 * Compares explanations with the requests that an upstream received, byte for byte. `watch-explained.ts` does
 * this for every gateway of a test; tests call it to get the explanation of an answer.
 */
import { expect } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { SentRequest } from '../../src/store/upstream-requests/upstream-request-store-interface.ts'
import { RECEIVED_REQUESTS, type ReceivedRequests } from './received-requests.ts'
import type { RequestRecord, Upstream } from './upstream.ts'

export interface Explanation extends JsonObject {
  readonly items: { readonly list: readonly JsonObject[] } & JsonObject
  readonly cache: JsonObject
  readonly upstream: JsonObject
}

/** Compares the latest received request with the explanation of this answer. */
export async function expectExplained(
  gateway: { readonly url: string },
  { received }: Pick<Upstream, 'received'>,
  id: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Explanation> {
  const url = `${gateway.url}/v1/context/explain/${id}`
  const sent = received.at(-1)
  const body = await fetch(`${url}?format=body`, { headers })
  expect([body.status, await body.text()]).toEqual([200, sent?.text])
  const told = (await (await fetch(url, { headers })).json()) as Explanation
  expect(told.upstream['body']).toEqual(sent?.json)
  expect(new URL(String(told.upstream['url'])).pathname).toBe(sent?.path.replace(/\?.*/, ''))
  const fates = told.items.list
  // Items that the wire cannot express passed through all transforms, so they count as given.
  const given = fates.filter(({ fate, reasons = [] }) => {
    const bys = (reasons as readonly JsonObject[]).map(({ by }) => by)
    return fate !== 'dropped' || bys.includes(told.upstream['wire'])
  })
  expect(given).toHaveLength(Number(told.items['sent']))
  for (const item of fates) {
    // Every dropped or changed item has a reason.
    if (item['fate'] === 'sent') continue
    expect(item['reasons'], JSON.stringify(item)).toBeDefined()
  }
  return told
}

/**
 * Compares a stored request with the received ones: path and body must match one that no other stored request
 * has matched.
 */
export function findExplanationFaults(
  { body, about }: Pick<SentRequest, 'body' | 'about'>,
  arrived: ReceivedRequests,
): readonly string[] {
  const { upstream } = JSON.parse(about) as { upstream: { url: string } }
  const { pathname, search } = new URL(upstream.url)
  const told: RequestRecord = { path: pathname + search, text: body }
  return arrived.takeMatch(told) ? [] : [`did not arrive: ${told.path} ${arrived.difference(told)}`]
}

/**
 * Checks a gateway whose dependencies cannot be reached. A killed gateway may have finished an answer without
 * storing its request; explain must then find none, and never another one.
 */
export async function expectReceivedIfStored(
  { url }: { readonly url: string },
  id: string,
): Promise<'kept' | 'not kept'> {
  const told = await fetch(`${url}/v1/context/explain/${id}`)
  const about = await told.text()
  if (told.status === 404) return 'not kept'
  const body = await (await fetch(`${url}/v1/context/explain/${id}?format=body`)).text()
  expect(findExplanationFaults({ body, about }, RECEIVED_REQUESTS)).toEqual([])
  return 'kept'
}

/** Returns the text view of an explanation, after checking its line width. */
export async function textViewOf(
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
