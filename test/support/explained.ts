/**
 * Explain is reality: what it says was sent for an answer is what the upstream received, byte for byte.
 * A test keeps a `witness` over its upstream, and asks it after each answer.
 */
import { expect } from 'vitest'
import type { JsonObject } from '../../src/conversation/json.ts'
import type { Owner } from '../../src/store/owner.ts'
import type { World } from '../../src/world.ts'
import type { Upstream } from './upstream.ts'

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

/** Looks at whatever a gateway keeps of its requests, for as long as tests go on. */
export function watchExplained(
  { world }: { readonly world: Pick<World, 'requests'> },
  { received }: Pick<Upstream, 'received'>,
): () => Promise<void> {
  const { requests } = world
  const kept: { readonly owner: Owner; readonly turnId: string }[] = []
  const arrived = new Set<string>()
  const keep = requests.keepRequest
  Object.assign(requests, {
    keepRequest(...asked: Parameters<typeof keep>) {
      const [owner, turnId] = asked
      kept.push({ owner, turnId })
      for (const { text } of received) arrived.add(text)
      return keep(...asked)
    },
  })
  return async () => {
    await requests.allKept()
    for (const { owner, turnId } of kept.splice(0)) {
      const sent = await requests.loadRequest(owner, turnId)
      if (sent !== null) expect(arrived).toContain(sent.body)
    }
  }
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
