/**
 * Lists the names of a Responses stream's events. The fields of events have no types: servers of
 * this API omit, rename and mistype too many of them, so each reader checks its fields.
 */
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../core/json/json.ts'

/** OpenAI's event names, and those of the Open Responses specification for raw reasoning. */
type ResponsesEventName =
  | ResponseStreamEvent['type']
  | 'response.reasoning.delta'
  | 'response.reasoning.done'

/**
 * Events that announce an empty part. They are not read, because the first delta of a part shows
 * the same.
 */
type EmptyPartEvent = 'content_part.added' | 'reasoning_summary_part.added'

/**
 * Hosted tools and features whose events are not read, because their finished item contains the
 * same data.
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
 * One function for each event that is read. If OpenAI adds an event, the type check fails until the
 * event is handled or ignored here.
 */
export type ResponsesEventHandlers<State> = Readonly<
  Record<Exclude<ResponsesEventName, IgnoredEventName>, (state: State, event: JsonObject) => void>
>
