/**
 * Has the chat of a scenario from its beginning, turn by turn and as its client would, so that whoever
 * remembers has something to remember. Whether it does is looked at: a memory that finds nothing is
 * quick.
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
  const found = await remembered(target, traffic)
  if (found < turnsBefore) throw new Error(`of ${turnsBefore} turns ${found} are remembered`)
}

/** How many items the gateway says that it would put back. */
async function remembered({ port, headers }: Target, traffic: Traffic): Promise<number> {
  const url = `http://127.0.0.1:${port}/v1/context/explain`
  const response = await fetch(url, { method: 'POST', headers, body: requestBody(traffic) })
  const { items } = (await response.json()) as { readonly items?: { readonly remembered: number } }
  return items?.remembered ?? 0
}
