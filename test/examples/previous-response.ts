/**
 * A conversation over the Responses API. The client sends only the new input; `previous_response_id`
 * works with every upstream, also with those that store nothing.
 */
import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: process.env['BACKSTORY_URL'] ?? 'http://127.0.0.1:8787/v1',
  apiKey: process.env['BACKSTORY_KEY'] ?? 'any',
})
const model = process.env['MODEL'] ?? 'demo'

const first = await openai.responses.create({ model, input: 'My name is Ada.' })
const second = await openai.responses.create({
  model,
  input: 'Who am I?',
  previous_response_id: first.id,
})
console.log(second.output_text)

// A second answer to the same first one is a branch of its own: it does not know `Who am I?`.
const branch = await openai.responses.create({
  model,
  input: 'Spell my name.',
  previous_response_id: first.id,
})
console.log(branch.output_text)

// Stored input of the second request: both questions, and the answer between them.
for await (const item of openai.responses.inputItems.list(second.id, { order: 'asc' })) {
  console.log(item.type)
}
