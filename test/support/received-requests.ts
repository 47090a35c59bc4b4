/**
 * Records what upstreams received, so that each sent request that the gateway reports can be matched with one
 * received request.
 */
import { allReceivedRequests, type RequestRecord } from './upstream.ts'

export interface ReceivedRequests {
  /** True if the request was received; each received request matches only once. */
  readonly takeMatch: (told: RequestRecord) => boolean
  /** Describes the first difference to the most similar received request. */
  readonly difference: (told: RequestRecord) => string
  readonly forgetAll: () => void
}

/** The requests that the upstreams of this test file received. */
export const RECEIVED_REQUESTS = trackReceivedRequests(allReceivedRequests)

/** Moves new entries out of `list` each time a request is matched. */
export function trackReceivedRequests(list: RequestRecord[]): ReceivedRequests {
  const unclaimed = new Map<string, number>()
  const takeIn = (): void => {
    for (const one of list.splice(0)) {
      unclaimed.set(nameOf(one), (unclaimed.get(nameOf(one)) ?? 0) + 1)
    }
  }
  return {
    takeMatch(told) {
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

function nameOf({ path, text }: RequestRecord): string {
  return `${path}\n${text}`
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1
  return at
}
