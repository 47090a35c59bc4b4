/** Clients that do nothing wrong while another one attacks: small requests all the time, and an open stream. */
import { pause } from './pause.ts'

export interface OtherClients {
  /** Returns the figures since the last call. */
  readonly takeFigures: () => OtherFigures
  readonly stop: () => Promise<void>
}

export interface OtherFigures {
  readonly answers: number
  /** Requests with another status than 200, or without an answer. */
  readonly refused: number
  /** Requests that were given up after waiting too long. */
  readonly late: number
  readonly slowestMs: number
}

const REQUEST = {
  model: 'demo',
  store: false,
  messages: [{ role: 'user', content: '/say Hello.' }],
}
const STREAM = {
  ...REQUEST,
  stream: true,
  messages: [{ role: 'user', content: '/repeat 100 and so on' }],
}
const MAX_WAIT_MS = 30_000

export function startOtherClients(url: string, key: string): OtherClients {
  const stopping = new AbortController()
  let figures = { answers: 0, refused: 0, late: 0, slowestMs: 0 }
  const ask = async (body: object): Promise<void> => {
    const startedAt = performance.now()
    try {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
        signal: AbortSignal.any([AbortSignal.timeout(MAX_WAIT_MS), stopping.signal]),
      })
      // The wait for a stream is the longest pause between two of its chunks.
      let chunkAt = startedAt
      for await (const _ of response.body ?? []) chunkAt = note(chunkAt)
      note(chunkAt)
      figures.answers += 1
      if (response.status !== 200) figures.refused += 1
    } catch (error) {
      if (stopping.signal.aborted) return
      const isLate = error instanceof Error && error.name === 'TimeoutError'
      figures[isLate ? 'late' : 'refused'] += 1
      note(startedAt)
      await pause(100)
    }
  }
  const note = (since: number): number => {
    const now = performance.now()
    figures.slowestMs = Math.max(figures.slowestMs, now - since)
    return now
  }
  const repeat = async (body: object, gapMs: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      await ask(body)
      await pause(gapMs)
    }
  }
  const clients = [repeat(REQUEST, 20), repeat(REQUEST, 20), repeat(STREAM, 0)]
  return {
    takeFigures() {
      const taken = figures
      figures = { answers: 0, refused: 0, late: 0, slowestMs: 0 }
      return taken
    },
    async stop() {
      stopping.abort()
      await Promise.all(clients)
    },
  }
}
