/**
 * Conversations that two APIs express differently, and clients that change answers: most of what the gateway
 * drops, changes, adds or moves, with the notes.
 */
import type { Body, GoldenCase, GoldenGroup } from '../golden-case.ts'
import { messageIn } from '../read-answer.ts'
import { ask, chat, FOUR_WIRES, LOOK, responses, RESPONSES_TOOLS, WAYS, type Way } from './ways.ts'

const [WHOLE] = WAYS as [Way]
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = (type = 'image/png') => ({
  type: 'input_image',
  image_url: `data:${type};base64,${PNG}`,
  detail: 'auto',
})
const text = (words: string) => ({ type: 'input_text', text: words })
const user = (...content: readonly unknown[]): Body => ({ role: 'user', content })
const call = (call_id: string, more: Body = {}): Body => ({
  type: 'function_call',
  call_id,
  name: 'look',
  arguments: '{"at":"Rome"}',
  ...more,
})
const output = (call_id: string, said: unknown = 'fog'): Body => ({
  type: 'function_call_output',
  call_id,
  output: said,
})
const ODD_ID = `call|${'x'.repeat(80)}`
const UNION = {
  type: 'function',
  name: 'either',
  strict: true,
  parameters: { anyOf: [{ type: 'object', properties: {}, additionalProperties: false }] },
}

/** Each runs over the four wires. */
const CONVERSATIONS: Readonly<Record<string, Body>> = {
  'odd calls': {
    tools: [...RESPONSES_TOOLS, UNION],
    input: [
      user(text('Look.')),
      call(ODD_ID),
      call('call_b', { arguments: 'not JSON', name: 'a.b' }),
      output(ODD_ID),
      output('call_b', ''),
      call('call_c'),
      output('call_c', [text('one'), text('two')]),
      call('call_c'),
      output('call_c', [text('one'), text('two')]),
      user(text('And now?')),
    ],
  },
  'calls whose tools are gone': {
    input: [user(text('Look.')), call('call_a'), output('call_a'), user(text('And now?'))],
  },
  'media in odd places': {
    input: [
      { role: 'system', content: [text('See:'), image()] },
      user(text(''), image('image/jpeg'), {
        type: 'input_file',
        file_url: 'https://example.com/a.pdf',
      }),
      {
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'There: ![fog](https://example.com/fog.png)',
            annotations: [
              {
                type: 'url_citation',
                url: 'https://example.com',
                title: 'Fog',
                start_index: 0,
                end_index: 5,
              },
            ],
          },
        ],
      },
      user(
        text('Thanks.'),
        { ...image(), detail: 'low' },
        { type: 'input_image', file_id: 'file-1' },
      ),
    ],
  },
  'items of another provider': {
    input: [
      user(text('Search.')),
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAelsewhere' },
      {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { type: 'search', query: 'fog' },
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not say.' }] },
      user(text('Why?')),
    ],
  },
  'thinking switched off in a running turn': {
    tools: RESPONSES_TOOLS,
    reasoning: { effort: 'none' },
    input: [
      user(text('Look.')),
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      call('call_a'),
      output('call_a'),
    ],
  },
  'text of an older Open WebUI, with a marker that nobody knows': {
    input: [
      user(text('Hello!')),
      {
        role: 'assistant',
        content:
          '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> Hm.\n</details>\nHi.\n\n[01JZZZZZZZZZZZZZZZZZ]: #',
      },
      user(text('And [01JZZZZZZZZZZZZZZZZZ]: # now?')),
    ],
  },
  'only the compaction is wanted': {
    input: [
      user(text('My name is Ada.')),
      { role: 'assistant', content: 'Hi.' },
      { type: 'compaction_trigger' },
    ],
  },
  'a forced tool, while thinking': {
    tools: RESPONSES_TOOLS,
    tool_choice: 'required',
    reasoning: { effort: 'xhigh' },
    max_output_tokens: 2000,
    temperature: 0.2,
    top_p: 0.4,
  },
  'tools and JSON at once, and a long name': {
    tools: RESPONSES_TOOLS,
    text: { format: { type: 'json_schema', name: 'a', schema: LOOK.parameters } },
    user: 'u'.repeat(300),
  },
}

const OTHER_MODELS = [
  'claude-sonnet-4-5',
  'claude-3-5-haiku',
  'claude-opus-5-5',
  'gemini-2.5-flash',
  'demo',
  'strict-model',
]

/** Policies that hide some of the images. */
const IMAGES: Readonly<Record<string, Body>> = {
  'too many bytes': { media: { bytes: 200 } },
  'the same image again': { media: { repeated: 'last' } },
  'images of an answer': { media: { reuse: 'user_then_assistant', image_messages: 1 } },
  'only the newest turn': { media: { keep_turns: 0, step: 1 }, cuts: { min_chars: 0 } },
}
const GALLERY: readonly Body[] = [
  user(text('First.'), image()),
  { role: 'assistant', content: `A cat: ![cat](data:image/png;base64,${PNG})` },
  user(text('Second.'), image(), image('image/webp')),
  { role: 'assistant', content: 'A dog.' },
  user(text('And now?')),
]

/** Changes of the client to the answer before its next request. */
const EDITS: Readonly<Record<string, (content: string) => string>> = {
  'other words': (content) => content.replace('Hello', 'Hallo'),
  'a shorter text': (content) => content.slice(0, 45),
  'more behind it': (content) => `${content}\n\nAnd more.`,
  'no marker': (content) => content.replaceAll(/\[[0-9A-Z]{20}\]: #\n*/g, ''),
  'the marker of another answer': (content) =>
    `${/\[[0-9A-Z]{20}\]: #\n*/.exec(content)?.[0] ?? ''}Something that nobody has said.`,
  'escaped and quoted': (content) => content.replaceAll('[', '\\[').replaceAll('“', '"'),
}

const MARKED = { MARKERS: 'always' }

export const ODD_CONVERSATIONS: GoldenGroup = {
  name: 'odd-conversations',
  cases: [
    ...Object.entries(CONVERSATIONS).flatMap(([name, body], at) =>
      [...FOUR_WIRES, OTHER_MODELS[at % OTHER_MODELS.length] ?? 'demo'].map(
        (model): GoldenCase => ({
          name: `${name}: ${model}`,
          play: ({ send, services }) => {
            services.checksSeals = false
            return send(responses({ model, input: 'Hello there!', ...body }))
          },
        }),
      ),
    ),
    ...OTHER_MODELS.map((model): GoldenCase => ({
      name: `many wishes at once: ${model}`,
      async play({ send }) {
        const messages = [{ role: 'user', content: 'Answer in JSON.' }]
        const response_format = {
          type: 'json_schema',
          json_schema: { name: 'a', schema: LOOK.parameters },
        }
        const wishes = { temperature: 1.5, top_p: 0.5, stop: [' ', 'x'], seed: 1, logprobs: true }
        await send(chat({ model, messages, response_format, reasoning_effort: 'xhigh', ...wishes }))
        const tools = [{ type: 'web_search' }, ...RESPONSES_TOOLS]
        await send(
          responses({ model, input: 'Look.', tools, tool_choice: 'required', temperature: 1.5 }),
        )
      },
    })),
    ...Object.entries(IMAGES).map(([name, backstory], at): GoldenCase => ({
      name: `images, ${name}: ${FOUR_WIRES[at % 4]}`,
      play: ({ send }) => send(responses({ model: FOUR_WIRES[at % 4], input: GALLERY, backstory })),
    })),
    ...Object.entries(EDITS).flatMap(([name, edit], at) =>
      [at % 2 === 0 ? 'claude-opus-5-5' : (FOUR_WIRES[at % 4] ?? 'gpt-5')].map(
        (model): GoldenCase => ({
          name: `a client edits, ${name}: ${model}`,
          settings: MARKED,
          async play({ send }) {
            const messages: Body[] = [{ role: 'user', content: 'Hello!' }]
            const message = messageIn(await send(chat({ model, messages })))
            const edited = { role: 'assistant', content: edit(String(message['content'])) }
            const next = { role: 'user', content: 'And now?' }
            await send(chat({ model, messages: [...messages, edited, next] }))
          },
        }),
      ),
    ),
    {
      name: 'calls that a client of markers forgets',
      settings: MARKED,
      async play({ send }) {
        const model = 'gpt-5'
        const tools = [{ type: 'function', function: LOOK }]
        const messages: Body[] = [{ role: 'user', content: 'Look at Rome.' }]
        const first = messageIn(await send(chat({ model, messages, tools })))
        const { content } = first
        const [made] = first['tool_calls'] as readonly Body[]
        const result = { role: 'tool', tool_call_id: made?.['id'], content: 'Rome: fog' }
        const second = messageIn(
          await send(chat({ model, messages: [...messages, first, result], tools })),
        )
        messages.push({
          role: 'assistant',
          content: `${String(content)}${String(second['content'])}`,
        })
        messages.push({ role: 'user', content: 'And now?' })
        await send(chat({ model, messages, tools }))
      },
    },
    {
      name: 'two answers that nobody can tell apart',
      async play({ send }) {
        const model = 'claude-sonnet-5'
        const messages: Body[] = [{ role: 'user', content: 'Hello!' }]
        const told = messageIn(await send(chat({ model, messages })))
        await send(chat({ model, messages }))
        messages.push({ role: 'assistant', content: told['content'] })
        await send(chat({ model, messages: [...messages, { role: 'user', content: 'And now?' }] }))
      },
    },
    {
      name: 'a dry run of what would be summed up or compacted',
      async play({ send }) {
        const filler = 'It is grey and cold. '.repeat(80)
        const input = [1, 2, 3].flatMap((turn) => [
          { role: 'user', content: `${turn}. ${filler}` },
          { role: 'assistant', content: 'Yes.' },
        ])
        const path = '/v1/context/explain'
        const body = {
          model: 'claude-sonnet-5',
          input: [...input, { role: 'user', content: 'And?' }],
        }
        const compact = [{ type: 'compaction', compact_threshold: 100 }]
        await send({ path, body: { ...body, context_management: compact } })
        const summaries = { trigger: 'tokens', above: 0.35, keep_turns: 1, keep_tokens: 0 }
        const budget = { window: 900, reserve: 50 }
        await send({ path, body: { ...body, backstory: { summaries, budget } } })
      },
    },
    {
      name: 'summaries are left to the upstream',
      settings: (url) => ({
        UPSTREAMS: JSON.stringify(
          [
            { name: 'a', wire: 'anthropic', models: ['claude-*'], quirks: { compact: true } },
            { name: 'o', wire: 'responses', models: ['gpt-*'], quirks: { compact: true } },
          ].map((account) => ({ baseUrl: url, apiKey: 'sk-upstream', ...account })),
        ),
      }),
      async play({ send }) {
        const summaries = { trigger: 'tokens', by: 'upstream', above: 1000, keep_turns: 1 }
        const filler = 'It is grey and cold. '.repeat(80)
        for (const model of ['gpt-5', 'claude-opus-5-5']) {
          const first = await send(
            ask(WHOLE, model, `One? ${filler}`, { backstory: { summaries } }),
          )
          const more = { backstory: { summaries }, previous_response_id: first.id }
          const second = await send(ask(WHOLE, model, 'Two?', more))
          await send(ask(WHOLE, 'claude-opus-5-5', 'Three?', { previous_response_id: second.id }))
        }
      },
    },
    {
      name: 'media by addresses that are loaded, blocked, gone or not what they say',
      settings: (url) => ({
        MEDIA_FETCH: 'auto',
        MEDIA_FETCH_ALLOW: new URL(url).host,
        MEDIA_FETCH_MAX_MB: '1',
      }),
      async play({ send, services }) {
        const { origin } = new URL(services.url)
        const model = services.behave
        services.behave = (response, received) => {
          if (received.method !== 'GET') return model(response, received)
          const found: Readonly<Record<string, readonly [string, Buffer]>> = {
            '/cat.png': ['image/png', Buffer.from(PNG, 'base64')],
            '/cat.jpg': ['image/jpeg', Buffer.from(PNG, 'base64')],
            '/page.png': ['image/png', Buffer.from('<html>Sign in</html>')],
            '/large.png': ['image/png', Buffer.alloc(2_000_000)],
          }
          const [type, body] = found[received.path] ?? []
          response.writeHead(type === undefined ? 404 : 200, {
            'content-type': type ?? 'text/plain',
          })
          response.end(body)
        }
        for (const name of ['cat.png', 'cat.jpg', 'page.png', 'large.png', 'gone.png']) {
          const shown = { type: 'input_image', image_url: `${origin}/${name}`, detail: 'auto' }
          await send(
            responses({ model: 'gemini-2.5-flash', input: [user(text('What is it?'), shown)] }),
          )
        }
        const shown = { type: 'input_image', image_url: 'http://10.0.0.1/x.png', detail: 'auto' }
        await send(
          responses({ model: 'gemini-2.5-flash', input: [user(text('What is it?'), shown)] }),
        )
      },
    },
    {
      name: 'a tool of the client that is named like one of the gateway',
      play: ({ send }) =>
        send(
          responses({
            model: 'gpt-5',
            input: 'Hello!',
            tools: [{ ...RESPONSES_TOOLS[0], name: 'remember' }],
            backstory: { layers: { facts: true, scope: 'user', working_memory: true } },
          }),
        ),
    },
  ],
}
