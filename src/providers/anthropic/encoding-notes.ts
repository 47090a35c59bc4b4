/**
 * The notes that the Anthropic encoder writes, by code: how the content was altered (`changed`,
 * `moved`, `added`, `dropped`), and a sentence for the user.
 */
import type { NoteTable } from '../note-collector.ts'

export const NOTES = {
  'allowed-tools-filtered': ['changed', 'Only allowed tools are sent; the API cannot forbid one.'],
  'arguments-not-an-object': [
    'changed',
    'Arguments that are not a JSON object are sent as {"arguments": "…"}.',
  ],
  'assistant-media-moved': ['moved', 'Media of an assistant message follows it as user input.'],
  'call-id-changed': [
    'changed',
    'The call id has more than 64 characters or others than letters, digits, _ and -, or it repeats.',
  ],
  'call-without-name': ['dropped', 'A call without a name is left out, with its output.'],
  'compaction-asked': ['added', 'The API is asked to compact the conversation.'],
  'compaction-named': [
    'added',
    'A compaction block requires the compaction setting; its threshold is too high to compact again.',
  ],
  'custom-tool-as-function': [
    'changed',
    'A custom tool is sent as a function with one string; its grammar is not enforced.',
  ],
  'effort-lowered': ['changed', 'The model does not support this effort; `high` is sent.'],
  'effort-unsupported': ['dropped', 'The model does not think, or its setting is unknown.'],
  'empty-text': ['changed', 'The API rejects empty text.'],
  'file-of-another-provider': [
    'dropped',
    'A notice replaces the file, because only the service that stores it knows its id.',
  ],
  'first-user-line-added': ['added', 'The user must speak first; a short line is added.'],
  'forced-tool-unsupported': ['changed', 'The model cannot be forced to call a tool.'],
  'format-as-tool': ['changed', 'The model has no structured output; it must call a tool.'],
  'hosted-tool': ['dropped', 'Only its own provider can run a hosted tool.'],
  'image-detail-ignored': ['changed', 'The API has no level of detail for images.'],
  'item-of-another-provider': ['dropped', 'Only another provider understands this item.'],
  'json-object-as-instruction': [
    'changed',
    'The API has no JSON mode; an instruction asks for JSON.',
  ],
  'max-tokens-lowered': ['changed', 'The limit is lowered to the maximum of the model.'],
  'max-tokens-raised': [
    'changed',
    'The limit is raised above the thinking budget, which counts as output.',
  ],
  'media-unsupported': ['dropped', 'A notice replaces media that the model cannot read.'],
  'output-missing': ['added', 'A call without an output is answered with an error.'],
  'output-moved': ['moved', 'A tool output is moved directly after its call.'],
  'output-without-call': ['dropped', 'An output without its call is left out.'],
  'parameter-unsupported': ['dropped', 'The API has no such setting.'],
  'prefill-as-instruction': [
    'added',
    'The model cannot continue its message; the user asks for it.',
  ],
  'reasoning-of-another-provider': ['dropped', 'Only its own provider can read reasoning.'],
  'reasoning-without-follower': ['dropped', 'A message cannot end with thinking.'],
  'refusal-left-out': ['dropped', 'A refused answer without content is left out.'],
  'sampling-conflict': [
    'dropped',
    'Only one of temperature and top_p is accepted; temperature is sent.',
  ],
  'sampling-unsupported': ['dropped', 'The model does not accept this setting.'],
  'sampling-with-thinking': ['dropped', 'Sampling cannot be set while the model thinks.'],
  'schema-loosened': ['changed', 'Schema rules that the API cannot enforce are left out.'],
  'server-tool-without-result': ['dropped', 'A server tool call without a result is left out.'],
  'stop-enforced': [
    'changed',
    'The API rejects blank stop sequences; the gateway ends the answer at them.',
  ],
  'strict-not-enforced': ['changed', 'Tool schemas are enforced only with `quirks.strictTools`.'],
  'system-in-place': [
    'changed',
    'Instructions inside of the conversation are sent as tagged user text.',
  ],
  'temperature-clamped': ['changed', 'Temperature is limited to values from 0 to 1.'],
  'thinking-always-on': ['changed', 'The model cannot stop thinking; effort `low` is sent.'],
  'thinking-changed': ['dropped', 'The text of this thinking is not the one that was signed.'],
  'thinking-missing-in-loop': [
    'changed',
    'The open tool loop started without thinking and must continue without it.',
  ],
  'thinking-off': [
    'dropped',
    'The API rejects thinking of an open tool loop while thinking is off.',
  ],
  'thinking-unsigned': ['dropped', 'Thinking without a signature cannot be sent back.'],
  'thinking-unsupported': ['dropped', 'The model cannot read thinking.'],
  'thinking-with-forced-tool': ['dropped', 'A forced tool call excludes thinking.'],
  'tool-choice-without-tools': ['dropped', 'There is no tool to choose.'],
  'tool-name-changed': [
    'changed',
    'Tool names have letters, digits, _ and -; answers get the original name.',
  ],
  'tool-schema-changed': [
    'changed',
    'A tool schema must be an object without alternatives at its root.',
  ],
  'tools-stubbed': ['added', 'Tools of earlier calls must be defined; the model cannot call them.'],
  'user-id-too-long': ['dropped', 'A user id has at most 256 characters.'],
} as const satisfies NoteTable
