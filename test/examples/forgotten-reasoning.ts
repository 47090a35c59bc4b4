/**
 * A chat client that keeps texts, tool calls and their results, but no reasoning, because Chat Completions has no place
 * for it. The gateway puts the reasoning back into the next request.
 */
import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: process.env['BACKSTORY_URL'] ?? 'http://127.0.0.1:8787/v1',
  apiKey: process.env['BACKSTORY_KEY'] ?? 'any',
})
const model = process.env['MODEL'] ?? 'demo'

const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_temperature',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
]

// The demo model follows lines that begin with `/`. A real model needs only the first line.
const question = `How warm is it in Oslo?
/think I need the current temperature.
/say Let me look.
/call get_temperature {"city": "Oslo"}`

// The client runs the tool within one answer, as every client does.
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
const call = await complete(messages, tools)
messages.push(call)
for (const { id } of call.tool_calls ?? []) {
  messages.push({ role: 'tool', tool_call_id: id, content: '4 degrees' })
}
const answer = await complete(messages, tools)
messages.push(answer, { role: 'user', content: 'Do I need a coat?' })

// `explain` lists the items that the model would get, without calling it.
const { items } = await openai.post<Explanation>('/context/explain', {
  body: { model, messages },
})
for (const { type, preview, fate } of items.list) {
  console.log(`${fate.padEnd(8)} ${type.padEnd(21)} ${preview.slice(0, 40)}`)
}

interface Explanation {
  readonly items: {
    readonly list: readonly {
      readonly type: string
      readonly preview: string
      readonly fate: string
    }[]
  }
}

async function complete(
  messages: OpenAI.ChatCompletionMessageParam[],
  tools: OpenAI.ChatCompletionTool[],
): Promise<OpenAI.ChatCompletionMessage> {
  const { choices } = await openai.chat.completions.create({ model, messages, tools })
  const message = choices[0]?.message
  if (message === undefined) throw new Error('The answer has no message.')
  const { role, content, tool_calls } = message
  // Like most clients, this one keeps no field that OpenAI's API does not have, e.g. `reasoning_content`.
  return { role, content, refusal: null, ...(tool_calls !== undefined && { tool_calls }) }
}
