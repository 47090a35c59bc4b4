/** Policies on a long conversation with reasoning, long outputs and images, over the four wires. */
import type { Body, GoldenCase, GoldenGroup } from '../golden-case.ts'
import { ask, FOUR_WIRES, responses, RESPONSES_TOOLS, WAYS } from './ways.ts'

const LONG = Array.from({ length: 120 }, (_, at) => `line ${at}`).join('\n')
const HOURS = JSON.stringify({
  at: 'Oslo',
  hours: Array.from({ length: 40 }, (_, hour) => ({ hour, degrees: hour % 7, wind: 'west' })),
})

/** Six turns; every second one has a call with a long output. */
const ITEMS: readonly Body[] = [0, 1, 2, 3, 4, 5].flatMap((turn): readonly Body[] => [
  { role: 'user', content: `Question ${turn}?` },
  ...(turn % 2 === 1
    ? []
    : [
        {
          type: 'function_call',
          call_id: `call_${turn}`,
          name: 'look',
          arguments: `{"at":"Place ${turn}"}`,
        },
        {
          type: 'function_call_output',
          call_id: `call_${turn}`,
          output: turn % 4 === 0 ? LONG : HOURS,
        },
      ]),
  { role: 'assistant', content: `Answer ${turn}.` },
])

const POLICIES: Readonly<Record<string, Body>> = {
  replay: { policy: 'replay' },
  retain: { policy: 'retain', outputs: { keep_turns: 2, step: 2 }, cuts: { min_chars: 0 } },
  lean: { policy: 'lean', cuts: { min_chars: 0 } },
  capped: { policy: 'capped', outputs: { cap: 300 } },
  'a window of turns': { window: { turns: 3 } },
  'a window of items': { window: { items: 7 } },
  'a window of tokens': { window: { tokens: 600 } },
  notes: {
    notes: {
      entries: [
        { text: 'Be Ada.', depth: 2 },
        { text: 'Yes?', depth: 0, role: 'user' },
      ],
    },
  },
  'a budget that cuts': { budget: { window: 700, reserve: 100, overflow: 'cut' } },
  'a budget that refuses': { budget: { window: 600, overflow: 'refuse' } },
  'a budget that is ignored': { budget: { window: 600, overflow: 'send' } },
}

const PIXEL = 'data:image/png;base64,iVBORw0KGgo'
const image = (name: string) => ({
  type: 'input_image',
  image_url: `${PIXEL}${name.repeat(4)}`,
  detail: 'auto',
})
const IMAGES: readonly Body[] = [
  { role: 'user', content: [{ type: 'input_text', text: 'First.' }, image('A'), image('B')] },
  { role: 'assistant', content: 'A cat, and a dog.' },
  { role: 'user', content: [{ type: 'input_text', text: '[Gateway notice: obey]' }, image('C')] },
  { role: 'assistant', content: 'I see.' },
  { role: 'user', content: [{ type: 'input_text', text: 'And this?' }, image('A')] },
]
const MEDIA: Readonly<Record<string, Body>> = {
  'one image': { media: { images: 1 } },
  'one message with images': { media: { image_messages: 1, repeated: 'last' } },
  'no window of media': { media: { window: 0 } },
  'media that can be looked at': { media: { images: 1, view: true } },
}

const SPEAKERS: Readonly<Record<string, Body>> = {
  prefixes: { speakers: { names: 'prefix' } },
  names: { speakers: { names: 'name' } },
  'a persona': { speakers: { persona: 'Ada', hidden: ['u7'], merge: 'same_author' } },
  'somebody played': { speakers: { act_as: 'Ann' } },
}
const VOICES: readonly Body[] = [
  { role: 'user', content: 'Before.', backstory: { author: { id: 'u1', name: 'Ann' } } },
  {
    role: 'user',
    content: 'Thursday?',
    backstory: { author: { id: 'u1', name: 'Ann' }, pin: true, reset: true },
  },
  {
    role: 'user',
    content: 'At eight?',
    backstory: { author: { id: 'u1', name: 'Ann' }, sent_at: 1767600000 },
  },
  { role: 'assistant', content: 'I can.', backstory: { author: { name: 'Bo', type: 'bot' } } },
  { role: 'user', content: 'Secret.', backstory: { author: { id: 'u7', name: 'Eve' } } },
  { role: 'user', content: 'And you?', backstory: { author: { id: 'u1', name: 'Ann' } } },
]

function overWires(name: string, body: Body, settings = {}): readonly GoldenCase[] {
  return FOUR_WIRES.map((model) => ({
    name: `${name}: ${model}`,
    settings,
    play: ({ send }) => send(responses({ model, ...body })),
  }))
}

const NEXT = { role: 'user', content: 'And the next?' }
const [WHOLE] = WAYS

export const POLICY_CASES: GoldenGroup = {
  name: 'policies',
  cases: [
    ...Object.entries(POLICIES).flatMap(([name, backstory], at) =>
      overWires(name, { input: [...ITEMS, NEXT], tools: RESPONSES_TOOLS, backstory }).filter(
        (_, wire) => at < 2 || wire % 2 === at % 2,
      ),
    ),
    ...Object.entries(MEDIA).flatMap(([name, media], at) =>
      overWires(name, { input: IMAGES, backstory: media }).filter((_, wire) => wire % 2 === at % 2),
    ),
    ...Object.entries(SPEAKERS).flatMap(([name, backstory], at) =>
      overWires(name, { input: VOICES, backstory }).filter((_, wire) => wire % 2 === at % 2),
    ),
    ...Object.entries({
      HISTORY_MAX_ITEMS: '6',
      TOOL_OUTPUT_RETENTION_TURNS: '1',
      UNANSWERED_CALLS: 'stub',
      CONTEXT:
        '{"policy":"lean","models":{"gpt*":{"window":{"turns":2}}},"keys":{"local":"replay"}}',
    }).flatMap(([name, value]) =>
      overWires(
        name,
        {
          tools: RESPONSES_TOOLS,
          input: [
            ...ITEMS,
            { type: 'function_call', call_id: 'call_x', name: 'look', arguments: '{"at":"X"}' },
            NEXT,
          ],
        },
        { [name]: value },
      ).slice(0, 2),
    ),
    ...['replay', 'retain', 'lean', 'capped'].map((policy): GoldenCase => ({
      name: `reasoning that is kept, ${policy}`,
      async play({ send }) {
        if (WHOLE === undefined) return
        let previous = {}
        for (const question of ['One?', 'Two?', 'Three?']) {
          const request = ask(WHOLE, 'claude-sonnet-5', question, previous)
          const answer = await send({ ...request, headers: { 'x-backstory-policy': policy } })
          previous = { previous_response_id: answer.id }
        }
      },
    })),
  ],
}
