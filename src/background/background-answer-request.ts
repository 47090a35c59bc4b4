/** Defines a request whose answer outlives its client. */
import type { ClientRequest } from '../core/client-request.ts'
import type { Caller } from '../core/client/caller.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { RequestOptions } from '../gateway/answer-request.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'

export interface BackgroundAnswerRequest {
  readonly dialect: Dialect
  readonly clientRequest: ClientRequest
  readonly caller: Caller
  readonly exchange: HttpExchange
  readonly options: RequestOptions
  /** True if a disconnected client may resume the stream. */
  readonly isResumable: boolean
}
