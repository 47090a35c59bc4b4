/** Streams an answer, and prints reasoning and text as they arrive. */
import { stdout } from 'node:process'
import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: process.env['BACKSTORY_URL'] ?? 'http://127.0.0.1:8787/v1',
  apiKey: process.env['BACKSTORY_KEY'] ?? 'any',
})
const model = process.env['MODEL'] ?? 'demo'

const stream = await openai.responses.create({ model, input: 'Hello!', stream: true })
for await (const event of stream) {
  switch (event.type) {
    case 'response.reasoning_summary_text.delta':
    case 'response.output_text.delta':
      stdout.write(event.delta)
      break
    case 'response.output_item.done':
      stdout.write(` [${event.item.type}]\n`)
      break
    // A stream ends with exactly one of these events. If none came, the connection broke off.
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      console.log(event.type)
  }
}
