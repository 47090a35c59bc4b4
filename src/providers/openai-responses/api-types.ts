/**
 * The names of a Responses stream's events. Their fields have no types, because servers of this API
 * omit, rename and mistype more of them than they document; each field is checked where it is read.
 */
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../core/json/json.ts'

/** OpenAI's event names, and those of the Open Responses specification for raw reasoning. */
export type ResponsesEventName =
  | ResponseStreamEvent['type']
  | 'response.reasoning.delta'
  | 'response.reasoning.done'

/** One function per event name, so that a name that OpenAI adds is a type error until it is handled. */
export type ResponsesEventHandlers<State> = Readonly<
  Record<ResponsesEventName, (state: State, event: JsonObject) => void>
>
