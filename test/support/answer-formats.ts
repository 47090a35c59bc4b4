/**
 * Writes one described answer as two kinds of upstream would: Chat Completions or Responses, streamed or not.
 */
import type { Behaviour } from './upstream.ts'

export interface AnswerContent {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly {
    readonly id: string
    readonly name: string
    readonly arguments: string
  }[]
  readonly finish?: 'length' | 'content_filter'
}

/** Answers in the format of the requested path. */
export function answerWith(said: AnswerContent): Behaviour {
  return (response, { path, json }) => {
    const isChat = path.endsWith('/chat/completions')
    if (json['stream'] === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of isChat ? chatStream(said) : responsesStream(said)) response.write(event)
      return void response.end()
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isChat ? chatBody(said) : responsesBody(said)))
  }
}

const CHAT_USAGE = {
  prompt_tokens: 20,
  completion_tokens: 10,
  total_tokens: 30,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 3 },
}

export function chatStream({ reasoning, text, calls = [], finish }: AnswerContent): string[] {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-upstream',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'upstream-model',
      choices: [{ index: 0, delta, finish_reason }],
    })}\n\n`
  const usage = {
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'upstream-model',
    choices: [],
    usage: CHAT_USAGE,
  }
  return [
    chunk({ role: 'assistant', content: '' }),
    ...splitInHalves(reasoning).map((reasoning_content) => chunk({ reasoning_content })),
    ...splitInHalves(text).map((content) => chunk({ content })),
    ...calls.map(({ id, name }, index) =>
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ),
    ...calls.flatMap((call, index) =>
      splitInHalves(call.arguments).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ),
    chunk({}, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    `data: ${JSON.stringify(usage)}\n\n`,
    'data: [DONE]\n\n',
  ]
}

export function chatBody({ reasoning, text, calls = [], finish }: AnswerContent): object {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-model',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ id, ...call }) => ({
                  id,
                  type: 'function',
                  function: call,
                })),
              }),
        },
        finish_reason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      },
    ],
    usage: CHAT_USAGE,
  }
}

const RESPONSES_USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 30,
}

function responsesOutput({
  reasoning,
  text,
  calls = [],
  finish,
}: AnswerContent): Record<string, unknown>[] {
  const status = finish === undefined ? 'completed' : 'incomplete'
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            id: 'rs_up',
            type: 'reasoning',
            encrypted_content: 'sealed',
            summary: [{ type: 'summary_text', text: reasoning }],
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            id: 'msg_up',
            type: 'message',
            role: 'assistant',
            status,
            content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
          },
        ]),
    ...calls.map((call, at) => ({
      id: `fc_up${at}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
    })),
  ]
}

export function responsesBody(said: AnswerContent, over = true): Record<string, unknown> {
  const status = said.finish === undefined ? 'completed' : 'incomplete'
  const reasons = { length: 'max_output_tokens', content_filter: 'content_filter' }
  return {
    id: 'resp_upstream',
    object: 'response',
    created_at: 1,
    status: over ? status : 'in_progress',
    error: null,
    incomplete_details: over && said.finish ? { reason: reasons[said.finish] } : null,
    instructions: null,
    metadata: {},
    model: 'upstream-model',
    output: over ? responsesOutput(said) : [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: over ? RESPONSES_USAGE : null,
  }
}

export function responsesStream(said: AnswerContent): string[] {
  const events: Record<string, unknown>[] = [
    { type: 'response.created', response: responsesBody(said, false) },
    { type: 'response.in_progress', response: responsesBody(said, false) },
    ...responsesOutput(said).flatMap((item, at) => itemEvents(item, at)),
    {
      type: said.finish === undefined ? 'response.completed' : 'response.incomplete',
      response: responsesBody(said),
    },
  ]
  return events.map(
    (event, sequence_number) =>
      `event: ${String(event['type'])}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  )
}

function itemEvents(item: Record<string, unknown>, output_index: number) {
  const type = item['type']
  const place = { item_id: item['id'], output_index }
  const between =
    type === 'reasoning'
      ? reasoningEvents(item, place)
      : type === 'message'
        ? messageEvents(item, place)
        : callEvents(item, place)
  const empty = { ...item, summary: [], content: [], arguments: '', status: 'in_progress' }
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: Object.fromEntries(Object.entries(empty).filter(([key]) => key in item)),
    },
    ...between,
    { type: 'response.output_item.done', output_index, item },
  ]
}

function reasoningEvents(item: Record<string, unknown>, place: object) {
  const part = (item['summary'] as { text: string }[])[0] ?? { text: '' }
  const at = { ...place, summary_index: 0 }
  return [
    {
      type: 'response.reasoning_summary_part.added',
      ...at,
      part: { type: 'summary_text', text: '' },
    },
    ...splitInHalves(part.text).map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      ...at,
      delta,
    })),
    { type: 'response.reasoning_summary_text.done', ...at, text: part.text },
    { type: 'response.reasoning_summary_part.done', ...at, part },
  ]
}

function messageEvents(item: Record<string, unknown>, place: object) {
  const part = (item['content'] as { text: string }[])[0] ?? { text: '' }
  const at = { ...place, content_index: 0 }
  return [
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...splitInHalves(part.text).map((delta) => ({
      type: 'response.output_text.delta',
      ...at,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...at, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part },
  ]
}

function callEvents(item: Record<string, unknown>, place: object) {
  const text = String(item['arguments'])
  return [
    ...splitInHalves(text).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      ...place,
      delta,
    })),
    { type: 'response.function_call_arguments.done', ...place, arguments: text },
  ]
}

function splitInHalves(text: string | undefined): string[] {
  if (text === undefined || text === '') return []
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}
