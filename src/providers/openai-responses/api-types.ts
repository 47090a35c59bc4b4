/**
 * The names of a Responses stream's events. Their fields have no types, because servers of this API
 * omit, rename and mistype more of them than they document; each field is checked where it is read.
 */
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../core/json/json.ts'

/** OpenAI's event names, and those of the Open Responses specification for raw reasoning. */
type ResponsesEventName =
  | ResponseStreamEvent['type']
  | 'response.reasoning.delta'
  | 'response.reasoning.done'

/** Announcements of empty parts; the first delta of a part starts it just as well. */
type EmptyPartEvent = 'content_part.added' | 'reasoning_summary_part.added'

/** Hosted tools and features whose finished item contains all that their other events report. */
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

/** One function per event that is read: a name that OpenAI adds is a type error until it has one. */
export type ResponsesEventHandlers<State> = Readonly<
  Record<Exclude<ResponsesEventName, IgnoredEventName>, (state: State, event: JsonObject) => void>
>
