/** Chat Completions as well-known services implement it, with one conversation that uses all features. */
import type { Body, GoldenCase, GoldenGroup } from '../golden-case.ts'
import { answerWith } from '../../support/answer-formats.ts'
import { accountsWith, chat, CHAT_TOOLS, responses, RESPONSES_TOOLS } from './ways.ts'

const PROFILES = ['openai', 'azure', 'openrouter', 'vllm', 'ollama', 'groq', 'mistral', 'deepseek']

const QUIRKS: Readonly<Record<string, Body>> = {
  'turns that alternate': { strictAlternation: true, systemRole: false, developerRole: false },
  'no text behind tools': { userAfterTool: false, toolMedia: false, messageNames: false },
  'ids of nine letters': { callIdPattern: '^[a-zA-Z0-9]{9}$', customTools: false },
  'reasoning in parts': { reasoningField: 'thinking-part', reasoningOn: 'all' },
  'reasoning that is demanded': { reasoningField: 'reasoning', reasoningDemanded: true },
  'fields that are refused': { refuses: ['temperature', 'stop'], maxTokensField: 'max_tokens' },
  'a prefix that is marked': { prefixCompletion: true, maxStops: 1 },
  'thinking in tags': { thinkTags: true },
  'answers told anew': { retell: true },
  'nothing is seen': { sees: [] },
}

const IMAGE = {
  type: 'input_image',
  image_url: 'data:image/png;base64,iVBORw0KGgoAAAA',
  detail: 'auto',
}

const INPUT: readonly Body[] = [
  { role: 'system', content: 'Be Ada.' },
  { role: 'developer', content: 'Be brief.' },
  { role: 'assistant', content: 'Welcome.' },
  { role: 'user', content: 'Hello!' },
  { role: 'user', content: [{ type: 'input_text', text: 'Look at Rome.' }, IMAGE] },
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'I must look.' }] },
  { type: 'function_call', call_id: 'call_first|1', name: 'look', arguments: '{"at":"Rome"}' },
  {
    type: 'function_call_output',
    call_id: 'call_first|1',
    output: [{ type: 'input_text', text: 'Rome: 4 degrees' }, IMAGE],
  },
  { type: 'custom_tool_call', call_id: 'call_2', name: 'grep', input: 'foo' },
  { type: 'custom_tool_call_output', call_id: 'call_2', output: 'foo.ts' },
  { role: 'user', content: 'And now?' },
  { role: 'assistant', content: 'It is' },
]

function overProfile(name: string, quirks: Body): GoldenCase {
  const models = ['m', 'deepseek-model', 'vendor/model']
  const model =
    name === 'deepseek' ? 'deepseek-model' : name === 'openrouter' ? 'vendor/model' : 'm'
  return {
    name,
    settings: accountsWith([{ name: 'one', wire: 'chat', models, quirks }]),
    async play({ send, services }) {
      services.checksSeals = false
      // The test service expects its key in a header other than Azure's.
      if (name === 'azure') services.behave = answerWith({ reasoning: 'Hm.', text: 'Yes.' })
      const wishes = { temperature: 0.5, parallel_tool_calls: false }
      const tools = [...RESPONSES_TOOLS, { type: 'custom', name: 'grep' }]
      await send(
        responses({
          model,
          input: INPUT,
          tools,
          max_output_tokens: 99,
          reasoning: { effort: 'high' },
          ...wishes,
        }),
      )
      const asked = { role: 'user', name: 'ann', content: 'Look at Oslo.' }
      const body = { model, messages: [asked], tools: CHAT_TOOLS, stop: ['x', 'y'], ...wishes }
      await send(chat({ ...body, max_completion_tokens: 99, stream: true }))
    },
  }
}

export const PROFILE_CASES: GoldenGroup = {
  name: 'profiles',
  cases: [
    ...PROFILES.map((profile) => overProfile(profile, { profile })),
    ...Object.entries(QUIRKS).map(([name, quirks]) => overProfile(name, quirks)),
  ],
}
