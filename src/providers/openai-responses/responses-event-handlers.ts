/**
 * Lists the event names of a Responses stream, and the type of a table with a handler for each. The
 * fields of events have no types, because servers omit, rename and mistype many of them; each
 * function checks the fields that it reads.
 */
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../core/json/json.ts'

/** OpenAI's event names, and two that the Open Responses specification adds for reasoning. */
type ResponsesEventName =
  | ResponseStreamEvent['type']
  | 'response.reasoning.delta'
  | 'response.reasoning.done'

/**
 * Events that announce an empty part. They are ignored, because the first delta of a part is
 * enough.
 */
type EmptyPartEvent = 'content_part.added' | 'reasoning_summary_part.added'

/**
 * Hosted tools and features whose events are ignored, because the finished item contains the same
 * data.
 */
type HostedFeature =
  | 'web_search_call'
  | 'file_search_call'
  | 'code_interpreter_call'
  | 'image_generation_call'
  | 'mcp_list_tools'
  | 'mcp_call'
  | 'shell_call'
  | 'compaction'
  | 'audio'

type IgnoredEventName = `response.${EmptyPartEvent | `${HostedFeature}${'_' | '.'}${string}`}`

/**
 * Handlers of all events that are not ignored. If OpenAI adds an event, the type check fails until
 * the event is handled or ignored.
 */
export type ResponsesEventHandlers<State> = Readonly<
  Record<Exclude<ResponsesEventName, IgnoredEventName>, (state: State, event: JsonObject) => void>
>
