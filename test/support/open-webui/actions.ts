/** Random user actions in a chat: a generator for them, and the function that performs them. */
import fc from 'fast-check'
import { nextNumber } from './script.ts'
import type { ChatSession } from './chat-session.ts'

export type Action =
  | {
      readonly do: 'ask' | 'regenerate' | 'editQuestion' | 'continueAnswer'
      readonly script: string
    }
  | { readonly do: 'upload'; readonly script: string; readonly what: 'image' | 'document' }
  | { readonly do: 'suggest'; readonly script: string }
  | { readonly do: 'editAnswer'; readonly how: keyof typeof EDITS }
  | { readonly do: 'goBack'; readonly to: number }
  | { readonly do: 'askBoth'; readonly scripts: readonly [string, string] }
  | { readonly do: 'clone' | 'task' }

/** Scripts of answers; `~` stops and `!` fails an answer. */
const SCRIPTS =
  'RT RT RC|RT T C|T RTRT RTC|RT RCC|T RC|RC|RT RTX|RTRT R~T ~T RTR~T RC|R~T ~R R~C ! RC|! RH RHRT RC|RH'.split(
    ' ',
  )

const EDITS = {
  'one word changed': (text: string) => text.replace('grey', 'blue'),
  'text appended': (text: string) => `${text}\n\nAnd so on.`,
  'markers removed': (text: string) => text.replaceAll(/^\[\w{20}\]: #$/gm, '').trim(),
  'markers doubled': (text: string) => text.replaceAll(/^\[\w{20}\]: #$/gm, '$&\n\n$&'),
  // A unique text, because two equal edits would make two answers identical.
  'text replaced': () => `I never said that, nor ${nextNumber()}.`,
} as const

const script = fc.constantFrom(...SCRIPTS)

function scriptedAction<Name extends string>(name: Name) {
  return fc.record({ do: fc.constant(name), script })
}

export const anyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: scriptedAction('ask') },
  { weight: 3, arbitrary: scriptedAction('regenerate') },
  { weight: 2, arbitrary: scriptedAction('editQuestion') },
  { weight: 2, arbitrary: scriptedAction('continueAnswer') },
  { weight: 1, arbitrary: scriptedAction('suggest') },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('upload'),
      script,
      what: fc.constantFrom('image', 'document'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('editAnswer'),
      how: fc.constantFrom(...(Object.keys(EDITS) as readonly (keyof typeof EDITS)[])),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('goBack'), to: fc.nat(100) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('askBoth'),
      scripts: fc.tuple(completeScript(), completeScript()),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('clone', 'task') }) },
)

/** Excludes scripts that stop or fail, for two answers at once. */
function completeScript(): fc.Arbitrary<string> {
  return fc.constantFrom(...SCRIPTS.filter((letters) => !/[~!]/.test(letters)))
}

/** Performs an action and returns the session to continue with: for a clone, that of the cloned chat. */
export async function performAction(session: ChatSession, action: Action): Promise<ChatSession> {
  const { chat } = session
  // Every other action needs an answer.
  if (chat.head() === null && action.do !== 'upload') {
    await session.ask('script' in action ? action.script : 'RT')
    return session
  }
  switch (action.do) {
    case 'ask':
    case 'regenerate':
    case 'editQuestion':
    case 'continueAnswer':
      await session[action.do](action.script)
      return session
    case 'suggest':
      await session.regenerate(action.script, 'Make it shorter')
      return session
    case 'upload':
      await session.ask(action.script, { [action.what]: UPLOADS[action.what] })
      return session
    case 'editAnswer':
      session.editAnswer(EDITS[action.how])
      return session
    case 'goBack': {
      const answers = [...chat.tree().values()].filter(({ kind }) => kind === 'answer')
      const answer = answers[action.to % answers.length]
      if (answer !== undefined) chat.goTo(answer.id)
      return session
    }
    case 'askBoth': {
      const [one, other] = action.scripts
      await session.askAll({ 'gpt-5': one, 'claude-opus-5': other })
      return session
    }
    case 'clone':
      return session.clone()
    case 'task':
      await chat.task('follow_up_generation', true)
      return session
  }
}

const UPLOADS = {
  image:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  document: 'The word of the day is swordfish.',
} as const
