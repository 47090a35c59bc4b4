/** Clients that send the complete chat each time: Open WebUI over its connections, and others. */
import type { Body, GoldenCase, GoldenGroup, Player } from '../golden-case.ts'
import { openChat, type Chat } from '../../support/open-webui/chat.ts'
import type { Account } from '../../support/open-webui/client.ts'
import { PROFILE_SETTINGS, type Profile } from '../../support/open-webui/headers.ts'
import { TASKS } from '../../support/open-webui/tasks.ts'
import { messageIn } from '../read-answer.ts'
import { askWithTools, chat, CHAT_TOOLS, FOUR_WIRES, outputFor, WAYS } from './ways.ts'

type Connection = Account['connection']

function openWebUi(
  profile: Profile,
  connection: Connection,
  model: string,
  lead: (chat: Chat) => Promise<unknown>,
): GoldenCase['play'] {
  return ({ watch }) =>
    watch((url) =>
      lead(
        openChat({
          account: {
            url,
            connection,
            profile,
            key: 'any',
            user: 'user-1',
            keepsReasoning: false,
            params: {},
            inlet: (messages) => messages,
          },
          model,
          system: 'You are Ada.',
        }),
      ),
    )
}

const LOOKS = 'Look at Rome and Oslo, then at Graz.'

const CHATS: Readonly<Record<string, (chat: Chat) => Promise<unknown>>> = {
  'goes on after tools': async ({ ask }) => {
    await ask(LOOKS)
    await ask('And now?')
  },
  'regenerates, and goes on from the first': async ({ ask, regenerate, goTo }) => {
    const { node } = await ask('Hello!')
    await regenerate()
    await regenerate('Be longer.')
    goTo(node.id)
    await ask('And now?')
  },
  'edits a question and an answer': async ({ ask, editQuestion, editAnswer }) => {
    await ask('Hello!')
    await ask('Look at Rome.')
    await editQuestion('Look at Oslo.')
    editAnswer((text) => text.replace('fog', 'mist'))
    await ask('Are you sure?')
  },
  'continues, and is cloned': async ({ ask, continueAnswer, clone }) => {
    await ask('Look at Rome.')
    await continueAnswer()
    await clone().ask('And in the copy?')
  },
}

const CONNECTIONS: readonly Connection[] = ['chat', 'responses', 'stateful']

function task(name: (typeof TASKS)[number], profile: Profile): GoldenCase {
  return {
    name: `housekeeping, ${profile}: ${name}`,
    settings: PROFILE_SETTINGS[profile],
    play: openWebUi(profile, 'chat', 'claude-sonnet-5', async (led) => {
      await led.ask('Hello!')
      await led.task(name, true)
    }),
  }
}

/** Sends back the text of each answer and nothing else. */
async function askInWords({ send }: Player, model: string, more: Body, headers = {}) {
  const messages: Body[] = []
  for (const content of ['Look at Rome.', 'What did you think?', 'And now?']) {
    messages.push({ role: 'user', content })
    let answer = await send(chat({ model, messages, tools: CHAT_TOOLS, ...more }, headers))
    let message = messageIn(answer)
    const run: Body[] = []
    while (message['tool_calls'] !== undefined) {
      const calls = message['tool_calls'] as readonly {
        readonly id: string
        readonly function: { readonly arguments: string }
      }[]
      const outputs = calls.map(({ id, function: { arguments: args } }) => ({
        role: 'tool',
        tool_call_id: id,
        content: outputFor(args),
      }))
      run.push(message, ...outputs)
      const asked = { model, messages: [...messages, ...run], tools: CHAT_TOOLS, ...more }
      answer = await send(chat(asked, headers))
      message = messageIn(answer)
    }
    messages.push({ role: 'assistant', content: message['content'] })
  }
}

export const TEXT_CLIENTS: GoldenGroup = {
  name: 'text-clients',
  cases: [
    ...FOUR_WIRES.flatMap((model, at) =>
      Object.entries(CHATS).flatMap(([what, lead], number): readonly GoldenCase[] => {
        // Each chat uses three of the four wires.
        if ((at + number) % 4 === 3) return []
        const connection = CONNECTIONS[(at + number) % 3] ?? 'chat'
        const name = `Open WebUI ${what}: ${connection}, ${model}`
        const play = openWebUi('full', connection, model, lead)
        return [{ name, settings: PROFILE_SETTINGS.full, play }]
      }),
    ),
    ...(['bare', 'user', 'jwt'] as const).map((profile): GoldenCase => ({
      name: `Open WebUI that tells of itself as ${profile}`,
      settings: PROFILE_SETTINGS[profile],
      play: openWebUi(profile, 'chat', 'gpt-5', async ({ ask }) => {
        await ask('Look at Rome.')
        await ask('And now?')
      }),
    })),
    ...TASKS.map((name) => task(name, 'full')),
    ...TASKS.slice(0, 2).map((name) => task(name, 'bare')),
    ...FOUR_WIRES.map((model): GoldenCase => ({
      name: `by words alone: ${model}`,
      play: (player) => askInWords(player, model, {}),
    })),
    ...['gpt-5', 'gemini-3.8-flash'].map((model): GoldenCase => ({
      name: `markers for everybody: ${model}`,
      settings: { MARKERS: 'always' },
      play: (player) => askInWords(player, model, { stream: true }),
    })),
    {
      name: 'markers for nobody',
      settings: { MARKERS: 'never' },
      play: (player) =>
        askInWords(player, 'claude-sonnet-5', {}, { 'x-openwebui-chat-id': 'chat-1' }),
    },
    {
      name: 'nothing is remembered',
      settings: { REMEMBER: 'off' },
      play: (player) => askInWords(player, 'claude-sonnet-5', {}),
    },
    ...['disabled', 'next_reply'].map((how): GoldenCase => ({
      name: `reasoning is kept: ${how}`,
      settings: { PERSIST_REASONING: how },
      play: (player) => askInWords(player, 'claude-sonnet-5', {}),
    })),
    {
      name: 'results of tools are not kept',
      settings: { PERSIST_TOOL_RESULTS: 'off' },
      play: (player) => askInWords(player, 'claude-sonnet-5', {}),
    },
    ...['deepseek-model', 'claude-opus-5-5'].map((model): GoldenCase => ({
      name: `by call ids, with all messages: ${model}`,
      play: (player) =>
        Promise.all(
          WAYS.filter(({ name }) => name === 'chat, streamed').map((way) =>
            askWithTools(player, way, model, LOOKS),
          ),
        ),
    })),
  ],
}
