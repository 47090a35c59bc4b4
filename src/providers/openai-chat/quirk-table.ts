/**
 * Lists the quirks of Chat Completions accounts: settings for services that deviate from OpenAI's
 * API.
 */
import {
  countQuirk,
  flagQuirk,
  listQuirk,
  choiceQuirk,
  patternQuirk,
  textQuirk,
  type QuirkValue,
} from '../quirks/quirk-value-kinds.ts'

export const CHAT_QUIRKS = {
  allowedTools: flagQuirk(
    'Accepts a tool choice of type `allowed_tools`. If not, only the allowed tools are sent.',
  ),
  callIdPattern: patternQuirk(
    'The format of call ids, such as `^[a-zA-Z0-9]{9}$`. Other ids are replaced by nine letters and digits.',
  ),
  customTools: flagQuirk(
    'Accepts custom tools, whose input is free text. If not, they are sent as functions with one string parameter.',
  ),
  developerRole: flagQuirk(
    'Accepts the role `developer`. If not, such messages are sent as `system`.',
  ),
  effortField: choiceQuirk(
    ['reasoning_effort', 'reasoning', 'none'],
    'The field for the reasoning effort; `reasoning` means `reasoning: { effort }`. `none`: the effort is not sent.',
  ),
  keyHeader: choiceQuirk(
    ['authorization', 'api-key'],
    'The header for the API key: `authorization: Bearer …` or `api-key: …`.',
  ),
  maxStops: countQuirk(
    'The maximum number of stop sequences of a request. The gateway itself ends the answer at the others.',
  ),
  maxTokensField: choiceQuirk(
    ['max_completion_tokens', 'max_tokens'],
    'The field for the maximum number of output tokens.',
  ),
  messageNames: flagQuirk("Accepts a message's `name`. If not, names are left out."),
  prefixCompletion: flagQuirk(
    '`true`: continues a final assistant message that is marked `prefix: true`. `false`: rejects an assistant message at the end, so a user message that asks for the continuation is added.',
  ),
  query: textQuirk('The query string of every request, such as `api-version=2024-10-21`.'),
  reasoningDemanded: flagQuirk(
    'Rejects tool calls without the reasoning that led to them. If the gateway does not know the reasoning, it sends an empty string.',
  ),
  reasoningField: choiceQuirk(
    ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking-part', 'none'],
    'The message field in which earlier reasoning is sent back. `none`: it is not sent. Default for Kimi K3, Kimi K2.7-Code, MiniMax M3 and GLM-5.2: `reasoning_content`.',
  ),
  reasoningOn: choiceQuirk(
    ['all', 'calls'],
    'Whether reasoning is sent back with every assistant message or only with those that call tools. Default: `all` for Kimi K3, Kimi K2.7-Code, MiniMax M3 and GLM-5.2, which need it, otherwise the value of the profile.',
  ),
  refuses: listQuirk('a list of field names', 'Request fields that it rejects; they are left out.'),
  retell: flagQuirk(
    "The gateway decodes and rewrites its answers even for Chat Completions clients, because OpenAI's SDKs cannot read them, e.g. calls without an index.",
  ),
  strictAlternation: flagQuirk(
    'Requires user and assistant messages to alternate, user first, with system messages only at the start.',
  ),
  systemRole: flagQuirk(
    'Accepts the role `system`. If not, instructions are sent as user messages.',
  ),
  thinkTags: choiceQuirk(
    [true, 'unopened'],
    'Sends reasoning as `<think>…</think>` at the start of the text; `unopened`: without the opening tag.',
  ),
  toolMedia: flagQuirk(
    'Accepts images in tool outputs. If not, they are sent in a user message after the outputs.',
  ),
  userAfterTool: flagQuirk(
    'Accepts a user message directly after a tool output. If not, a short assistant message is inserted.',
  ),
}

export type ChatQuirks = {
  readonly [Name in keyof typeof CHAT_QUIRKS]?: QuirkValue<(typeof CHAT_QUIRKS)[Name]>
}
