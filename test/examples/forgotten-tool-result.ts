/**
 * A chat client that keeps only the text of earlier answers, like most chat interfaces. The gateway
 * puts the tool call, its result and the reasoning back into the next request.
 */
import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: process.env['BACKSTORY_URL'] ?? 'http://127.0.0.1:8787/v1',
  apiKey: process.env['BACKSTORY_KEY'] ?? 'any',
  // Open WebUI sends this header. The gateway then writes markers into the answers.
  defaultHeaders: { 'X-Backstory-Chat': 'example' },
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

// With the next question the client sends only the texts.
const forgetful: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'user', content: question },
  { role: 'assistant', content: call.content },
  { role: 'assistant', content: answer.content },
  { role: 'user', content: 'Do I need a coat?' },
]

// `explain` lists the items that the model would get, without calling it.
const { items } = await openai.post<Explanation>('/context/explain', {
  body: { model, messages: forgetful },
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
  return message
}
