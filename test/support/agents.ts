/**
 * Agents that work with tools through a gateway, each keeping its conversation in another way: by the
 * id of the response before, in a conversation, or by itself, in one language or the other.
 */
import type OpenAI from 'openai'
import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { Response, ResponseInputItem } from 'openai/resources/responses/responses'
import { LOOK } from './wire-models.ts'

/** What a user says in one turn. */
export interface Said {
  readonly text: string
  readonly images: readonly string[]
  /** What the client says to the gateway alone, such as that it is pinned. */
  readonly field: object | null
}

/** What a tool answers, by its arguments. */
type Tool = (args: string) => string

interface Agent {
  /** Until the model calls nothing any more. */
  readonly ask: (said: Said, tool: Tool) => Promise<void>
}

interface Asking {
  readonly openai: OpenAI
  readonly model: string
  readonly backstory: object
}

export const AGENTS = {
  'by the response before'(asking) {
    let previous_response_id: string | null = null
    return respondingAgent(async (input) => {
      const response = await respond(asking, { input, previous_response_id })
      previous_response_id = response.id
      return response
    })
  },
  'in a conversation'(asking) {
    let conversation: string | null = null
    return respondingAgent(async (input) => {
      conversation ??= (await asking.openai.conversations.create()).id
      return respond(asking, { input, conversation })
    })
  },
  'with all of it, sealed'(asking) {
    const kept: ResponseInputItem[] = []
    return respondingAgent(async (input) => {
      kept.push(...input)
      const include = ['reasoning.encrypted_content']
      const response = await respond(asking, { input: kept, store: false, include })
      kept.push(...(response.output as ResponseInputItem[]))
      return response
    })
  },
  'with all messages': chattingAgent,
} satisfies Readonly<Record<string, (asking: Asking) => Agent>>

function respond(
  { openai, model, backstory }: Asking,
  more: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const tools = [{ type: 'function', strict: false, ...LOOK }]
  const body = { model, tools, reasoning: { effort: 'low' }, backstory, ...more }
  return openai.responses.create(body as never)
}

function respondingAgent(send: (input: readonly ResponseInputItem[]) => Promise<Response>): Agent {
  return {
    async ask({ text, images, field }, tool) {
      const content = [
        { type: 'input_text', text },
        ...images.map((image_url) => ({ type: 'input_image', detail: 'auto', image_url })),
      ]
      const question = { type: 'message', role: 'user', content, ...ofGateway(field) }
      let input = [question as ResponseInputItem]
      while (input.length > 0) {
        const { output } = await send(input)
        input = output.flatMap((item): ResponseInputItem[] => {
          if (item.type !== 'function_call') return []
          const { call_id, arguments: args } = item
          return [{ type: 'function_call_output', call_id, output: tool(args) }]
        })
      }
    },
  }
}

function chattingAgent({ openai, model, backstory }: Asking): Agent {
  const messages: ChatCompletionMessageParam[] = []
  const tools = [{ type: 'function' as const, function: LOOK }]
  return {
    async ask({ text, images, field }, tool) {
      messages.push({ role: 'user', content: contentOf(text, images), ...ofGateway(field) })
      for (let isDone = false; !isDone;) {
        const body = { model, messages, tools, reasoning_effort: 'low' as const, backstory }
        const answer = await openai.chat.completions.create(body)
        const { content = null, tool_calls: calls = [] } = answer.choices[0]?.message ?? {}
        const made = calls.length === 0 ? {} : { tool_calls: calls }
        messages.push({ role: 'assistant', content, ...made })
        for (const call of calls) {
          if (call.type !== 'function') continue
          const content = tool(call.function.arguments)
          messages.push({ role: 'tool', tool_call_id: call.id, content })
        }
        isDone = calls.length === 0
      }
    },
  }
}

function contentOf(text: string, images: Said['images']): string | ChatCompletionContentPart[] {
  if (images.length === 0) return text
  return [
    { type: 'text', text },
    ...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
  ]
}

function ofGateway(field: object | null): object {
  return field === null ? {} : { backstory: field }
}
