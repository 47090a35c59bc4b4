/** What a case of the golden corpus is made of. */
import type { Services } from '../support/services/start-services.ts'
import type { Behaviour } from '../support/upstream.ts'

export type Body = Readonly<Record<string, unknown>>

export interface GoldenGroup {
  /** Names the file of the recording, too. */
  readonly name: string
  readonly cases: readonly GoldenCase[]
}

export interface GoldenCase {
  readonly name: string
  /** Settings of the gateway, beside those that name the upstreams. */
  readonly settings?: Settings | ((upstreamUrl: string) => Settings)
  readonly play: (player: Player) => Promise<unknown>
}

export type Settings = Readonly<Record<string, string>>

/** Talks to one gateway with one fresh upstream behind it. All that it does is recorded. */
export interface Player {
  readonly send: (request: ClientRequest) => Promise<Answer>
  /** Sends one message over a WebSocket, the same one for the whole case. */
  readonly sendFrame: (message: Body) => Promise<Answer>
  /** Records what a client of its own does with this address until it resolves. */
  readonly watch: <Result>(run: (gatewayUrl: string) => Promise<Result>) => Promise<Result>
  /** The next requests to the upstream are answered like this; those after them by the model. */
  readonly upstreamDoes: (...behaviors: readonly Behaviour[]) => void
  readonly services: Services
  /**
   * Waits for work behind an answer: until the upstream has had so many requests in all, and what the
   * gateway makes of the last of them is kept.
   */
  readonly upstreamHasHad: (count: number) => Promise<void>
}

export interface ClientRequest {
  readonly method?: string
  readonly path: string
  /** Sent as JSON; a string as it is. */
  readonly body?: Body | string
  readonly headers?: Readonly<Record<string, string>>
  /** By default, the stored explanation of an answer that is kept, a dry run of any other. */
  readonly explained?: 'stored' | 'dry run' | 'not at all'
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** The JSON of the answer, or of the last event of a stream that has a response or an id. */
  readonly json: Body
  readonly id: string
}
