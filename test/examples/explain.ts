/** Prints the size of the same chat under each context policy. No model is called. */
import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: process.env['BACKSTORY_URL'] ?? 'http://127.0.0.1:8787/v1',
  apiKey: process.env['BACKSTORY_KEY'] ?? 'any',
})
const model = process.env['MODEL'] ?? 'demo'

// Three tool calls, because a short chat is never cut.
const messages: OpenAI.ChatCompletionMessageParam[] = []
for (const day of ['Monday', 'Tuesday', 'Wednesday']) {
  const id = `call_${day}`
  const read = { name: 'read_log', arguments: JSON.stringify({ day }) }
  messages.push(
    { role: 'user', content: `Are there errors in the log of ${day}?` },
    { role: 'assistant', tool_calls: [{ id, type: 'function', function: read }] },
    { role: 'tool', tool_call_id: id, content: 'All is well.\n'.repeat(2000) },
    { role: 'assistant', content: 'No.' },
  )
}
messages.push({ role: 'user', content: 'Thanks!' })

for (const policy of ['replay', 'retain', 'lean', 'capped']) {
  const { size, items } = await openai.post<Explanation>('/context/explain', {
    body: { model, messages, backstory: { policy } },
  })
  console.log(`${policy.padEnd(6)} ${size.sent.estimated_tokens} tokens`)
  for (const { preview, reasons = [] } of items.list) {
    for (const { sentence } of reasons) console.log(`  ${preview.slice(0, 12)}: ${sentence}`)
  }
}

interface Explanation {
  readonly size: { readonly sent: { readonly estimated_tokens: number } }
  readonly items: {
    readonly list: readonly {
      readonly preview: string
      readonly reasons?: readonly { readonly sentence: string }[]
    }[]
  }
}
