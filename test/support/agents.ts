/**
 * Agents that run tool loops through a gateway, one for each way to keep a conversation: by
 * `previous_response_id`, in a conversation object, or by sending all items, as Responses input or chat
 * messages.
 */
import type OpenAI from 'openai'
import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type { Response, ResponseInputItem } from 'openai/resources/responses/responses'
import { LOOK_TOOL } from './wire-models.ts'

/** The user's message of one turn. */
export interface UserTurn {
  readonly text: string
  readonly images: readonly string[]
  /** The item's `backstory` field, e.g. `{ pin: true }`. */
  readonly field: object | null
}

/** Returns a tool's output for its arguments. */
type Tool = (args: string) => string

interface Agent {
  /** Sends a question, and runs tools until the model calls none. */
  readonly ask: (said: UserTurn, tool: Tool) => Promise<void>
}

interface AgentOptions {
  readonly openai: OpenAI
  readonly model: string
  readonly backstory: object
}

export const AGENTS = {
  'by previous_response_id'(asking) {
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
  'with all items and encrypted reasoning'(asking) {
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
} satisfies Readonly<Record<string, (asking: AgentOptions) => Agent>>

function respond(
  { openai, model, backstory }: AgentOptions,
  more: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const tools = [{ type: 'function', strict: false, ...LOOK_TOOL }]
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
      const question = { type: 'message', role: 'user', content, ...gatewayField(field) }
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

function chattingAgent({ openai, model, backstory }: AgentOptions): Agent {
  const messages: ChatCompletionMessageParam[] = []
  const tools = [{ type: 'function' as const, function: LOOK_TOOL }]
  return {
    async ask({ text, images, field }, tool) {
      messages.push({ role: 'user', content: chatContent(text, images), ...gatewayField(field) })
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

function chatContent(
  text: string,
  images: UserTurn['images'],
): string | ChatCompletionContentPart[] {
  if (images.length === 0) return text
  return [
    { type: 'text', text },
    ...images.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
  ]
}

function gatewayField(field: object | null): object {
  return field === null ? {} : { backstory: field }
}
