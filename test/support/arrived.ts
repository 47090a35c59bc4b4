/** What came to the upstreams, to be claimed by what is told of it: each request by one answer. */
import { everReceived, type Arrival } from './upstream.ts'

export interface Arrived {
  /** Whether it arrived, and nothing else that was told is the same request. */
  readonly claim: (told: Arrival) => boolean
  /** How it goes on where it is not what arrived. */
  readonly difference: (told: Arrival) => string
  readonly forgetAll: () => void
}

/** What came to any upstream of this file's tests. */
export const ARRIVED = arrivedIn(everReceived)

/** What is in `list` by the time that something is claimed is taken out of it. */
export function arrivedIn(list: Arrival[]): Arrived {
  const unclaimed = new Map<string, number>()
  const takeIn = (): void => {
    for (const one of list.splice(0)) {
      unclaimed.set(nameOf(one), (unclaimed.get(nameOf(one)) ?? 0) + 1)
    }
  }
  return {
    claim(told) {
      takeIn()
      const name = nameOf(told)
      const left = unclaimed.get(name) ?? 0
      if (left > 1) unclaimed.set(name, left - 1)
      else unclaimed.delete(name)
      return left > 0
    },
    difference(told) {
      const name = nameOf(told)
      let [nearest, common] = ['', 0]
      for (const one of unclaimed.keys()) {
        const shared = commonStart(one, name)
        if (shared > common) [nearest, common] = [one, shared]
      }
      const from = Math.max(0, common - 40)
      const shown = (text: string) => JSON.stringify(text.slice(from, from + 160))
      return `told from character ${from} ${shown(name)}, arrived ${shown(nearest)}`
    },
    forgetAll() {
      list.length = 0
      unclaimed.clear()
    },
  }
}

function nameOf({ path, text }: Arrival): string {
  return `${path}\n${text}`
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1
  return at
}
