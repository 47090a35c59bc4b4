/**
 * Plays the chat of a scenario turn by turn, so that the recalling subjects have stored turns, and checks
 * that they find them: a lookup that finds nothing would be fast.
 */
import type { Target } from './job.ts'
import { probe } from './probe.ts'
import { requestBody } from './traffic.ts'
import type { Traffic } from './traffic.ts'

export async function seed(target: Target, traffic: Traffic, remembers: boolean): Promise<void> {
  const { turnsBefore = 0 } = traffic
  for (let turn = 0; turn < turnsBefore; turn += 1) {
    await probe(target, { ...traffic, turnsBefore: turn }, false)
  }
  if (turnsBefore === 0 || !remembers) return
  const found = await countRecalledItems(target, traffic)
  if (found < turnsBefore) throw new Error(`of ${turnsBefore} turns ${found} are remembered`)
}

/** Returns how many items the gateway would recall. */
async function countRecalledItems({ port, headers }: Target, traffic: Traffic): Promise<number> {
  const url = `http://127.0.0.1:${port}/v1/context/explain`
  const response = await fetch(url, { method: 'POST', headers, body: requestBody(traffic) })
  const { items } = (await response.json()) as { readonly items?: { readonly remembered: number } }
  return items?.remembered ?? 0
}
