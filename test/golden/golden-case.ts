/** The types of a case in the golden corpus. */
import type { Services } from '../support/services/start-services.ts'
import type { Behaviour } from '../support/upstream.ts'

export type Body = Readonly<Record<string, unknown>>

export interface GoldenGroup {
  /** Name of the group, and of the file with its recordings. */
  readonly name: string
  readonly cases: readonly GoldenCase[]
}

export interface GoldenCase {
  readonly name: string
  /** Settings of the gateway in addition to the upstreams. */
  readonly settings?: Settings | ((upstreamUrl: string) => Settings)
  readonly play: (player: Player) => Promise<unknown>
}

export type Settings = Readonly<Record<string, string>>

/** Sends requests to one gateway with a fresh upstream. All exchanges are recorded. */
export interface Player {
  readonly send: (request: ClientRequest) => Promise<Answer>
  /** Sends one message over a WebSocket, which stays the same for the whole case. */
  readonly sendFrame: (message: Body) => Promise<Answer>
  /** Records the requests that a client sends to the given URL while `run` is running. */
  readonly watch: <Result>(run: (gatewayUrl: string) => Promise<Result>) => Promise<Result>
  /** Sets the responses to the next upstream requests; later ones get the model's answers. */
  readonly upstreamDoes: (...behaviors: readonly Behaviour[]) => void
  readonly services: Services
  /**
   * Waits for work after an answer: until the upstream has received `count` requests in total, and the
   * gateway has stored the result of the last one.
   */
  readonly upstreamHasHad: (count: number) => Promise<void>
}

export interface ClientRequest {
  readonly method?: string
  readonly path: string
  /** Body of the request, which is sent as JSON; a string is sent unchanged. */
  readonly body?: Body | string
  readonly headers?: Readonly<Record<string, string>>
  /** By default, stored answers get their stored explanation, and others a dry run. */
  readonly explained?: 'stored' | 'dry run' | 'not at all'
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** The JSON of the answer, or of the last stream event with a response or an id. */
  readonly json: Body
  readonly id: string
}
