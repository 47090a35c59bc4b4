/**
 * The events of a Responses stream, by name. Their fields are read as what they turn out to be:
 * servers that speak this wire leave out, rename and mistype more of them than they document.
 */
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../core/json/json.ts'

/** What OpenAI publishes, and what others say in its place. */
export type ResponsesEventName = ResponseStreamEvent['type'] | OtherName

/** Raw reasoning, as the Open Responses specification calls it. */
type OtherName = 'response.reasoning.delta' | 'response.reasoning.done'

/** One small function for every event: a name that OpenAI adds and nobody handles is a type error. */
export type ResponsesEventHandlers<State> = Readonly<
  Record<ResponsesEventName, (state: State, event: JsonObject) => void>
>
