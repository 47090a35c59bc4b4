/**
 * A notation for conversations, which shows the input and the result of a test as a few lines of text:
 *
 *     system: be brief          developer: …   user: …   assistant: …
 *     thinks: the user wants …  reasoning with a summary; `sealed: …` has encrypted content
 *     call a weather {}         a function call with the id a; name and arguments may be left out
 *     output a 4 degrees        its output
 *     custom b grep foo         a call of a custom tool; `custom-output b foo.ts`
 *     shell c ls                an opaque shell call; `shell-output c foo.ts`
 *     hosted web_search_call    any other opaque item, by its type
 *
 * `talk` parses the notation, `show` writes it. `⏎` is a line break in the text of an item.
 */
import { textOf, type Item, type Part, type Role } from '../../src/core/item.ts'

export function talk(strings: TemplateStringsArray, ...values: readonly string[]): readonly Item[] {
  const text = strings
    .map((string, at) => string + (values[at] ?? '').replaceAll('\n', '⏎'))
    .join('')
  return text
    .split('\n')
    .map((line) => line.trimStart())
    .filter((line) => line.trim() !== '')
    .map((line) => itemOf(line.replaceAll('⏎', '\n')))
}

export function show(items: readonly Item[]): string {
  return items.map((item) => lineOf(item).trimEnd().replaceAll('\n', '⏎')).join('\n')
}

function itemOf(line: string): Item {
  const [, word = '', rest = ''] = /^([a-z-]+:?) ?([\s\S]*)$/.exec(line) ?? []
  const make = WORDS[word]
  if (make === undefined) throw new Error(`No such word in a talk: ${line}`)
  return make(rest)
}

const WORDS: Readonly<Record<string, (rest: string) => Item>> = {
  'system:': message('system'),
  'developer:': message('developer'),
  'user:': message('user'),
  'assistant:': message('assistant'),
  'thinks:': (text) => ({ type: 'reasoning', summary: [{ type: 'summary_text', text }] }),
  'sealed:': (text) => ({ type: 'reasoning', summary: [], encrypted_content: text }),
  call(rest) {
    const [call_id, more] = firstWord(rest)
    const [name, args] = firstWord(more)
    return { type: 'function_call', call_id, name: name || 'tool', arguments: args || '{}' }
  },
  output(rest) {
    const [call_id, output] = firstWord(rest)
    return { type: 'function_call_output', call_id, output }
  },
  custom(rest) {
    const [call_id, more] = firstWord(rest)
    const [name, input] = firstWord(more)
    return { type: 'custom_tool_call', call_id, name: name || 'tool', input }
  },
  'custom-output'(rest) {
    const [call_id, output] = firstWord(rest)
    return { type: 'custom_tool_call_output', call_id, output }
  },
  shell(rest) {
    const [call_id, command] = firstWord(rest)
    return { type: 'opaque', raw: { type: 'shell_call', call_id, command } }
  },
  'shell-output'(rest) {
    const [call_id, output] = firstWord(rest)
    return { type: 'opaque', raw: { type: 'shell_call_output', call_id, output } }
  },
  hosted: (type) => ({ type: 'opaque', raw: { type } }),
}

function message(role: Role) {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return (text: string): Item => ({ type: 'message', role, content: [{ type, text }] })
}

function firstWord(text: string): readonly [string, string] {
  const [, word = '', rest = ''] = /^(\S*) ?([\s\S]*)$/.exec(text) ?? []
  return [word, rest]
}

function lineOf(item: Item): string {
  switch (item.type) {
    case 'message':
      return `${item.role}: ${formatContent(item.content)}`
    case 'reasoning':
      return typeof item.encrypted_content === 'string'
        ? `sealed: ${item.encrypted_content}`
        : `thinks: ${item.summary.map(({ text }) => text).join('')}`
    case 'function_call':
      return `call ${item.call_id} ${formatCall(item.name, item.arguments)}`
    case 'function_call_output':
      return `output ${item.call_id} ${formatContent(item.output)}`
    case 'custom_tool_call':
      return `custom ${item.call_id} ${formatCall(item.name, item.input)}`
    case 'custom_tool_call_output':
      return `custom-output ${item.call_id} ${formatContent(item.output)}`
    case 'opaque':
      if (item.raw['type'] === 'shell_call') {
        return `shell ${String(item.raw['call_id'])} ${String(item.raw['command'])}`
      }
      if (item.raw['type'] === 'shell_call_output') {
        return `shell-output ${String(item.raw['call_id'])} ${String(item.raw['output'])}`
      }
      return `hosted ${String(item.raw['type'])}`
  }
}

/** Default names and arguments are not shown. */
function formatCall(name: string, input: string): string {
  const shownInput = input === '{}' ? '' : input
  return name === 'tool' && shownInput === '' ? '' : `${name} ${shownInput}`
}

function formatContent(content: string | readonly Part[]): string {
  const others = typeof content === 'string' ? [] : content.filter((part) => !('text' in part))
  return [textOf(content), ...others.map((part) => `[${part.type}]`)].join(' ').trim()
}
