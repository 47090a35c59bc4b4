/** Anything that a person may do in a chat, in any order, as a generator and as what it comes to. */
import fc from 'fast-check'
import { nextNumber } from './script.ts'
import type { Story } from './story.ts'

export type Action =
  | { readonly do: 'ask' | 'regenerate' | 'editQuestion' | 'goOn'; readonly script: string }
  | { readonly do: 'upload'; readonly script: string; readonly what: 'image' | 'document' }
  | { readonly do: 'suggest'; readonly script: string }
  | { readonly do: 'editAnswer'; readonly how: keyof typeof EDITS }
  | { readonly do: 'goBack'; readonly to: number }
  | { readonly do: 'askBoth'; readonly scripts: readonly [string, string] }
  | { readonly do: 'clone' | 'task' }

/** Where a text stops in the middle, or an answer fails, goes with the rest. */
const SCRIPTS =
  'RT RT RC|RT T C|T RTRT RTC|RT RCC|T RC|RC|RT RTX|RTRT R~T ~T RTR~T RC|R~T ~R R~C ! RC|! RH RHRT RC|RH'.split(
    ' ',
  )

const EDITS = {
  'a word': (text: string) => text.replace('grey', 'blue'),
  'more at the end': (text: string) => `${text}\n\nAnd so on.`,
  'without its markers': (text: string) => text.replaceAll(/^\[\w{20}\]: #$/gm, '').trim(),
  'its markers twice': (text: string) => text.replaceAll(/^\[\w{20}\]: #$/gm, '$&\n\n$&'),
  // Two answers to one question that a person makes the same are the same to whoever reads them.
  'something else entirely': () => `I never said that, nor ${nextNumber()}.`,
} as const

const script = fc.constantFrom(...SCRIPTS)

function scripted<Name extends string>(name: Name) {
  return fc.record({ do: fc.constant(name), script })
}

export const anyAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: scripted('ask') },
  { weight: 3, arbitrary: scripted('regenerate') },
  { weight: 2, arbitrary: scripted('editQuestion') },
  { weight: 2, arbitrary: scripted('goOn') },
  { weight: 1, arbitrary: scripted('suggest') },
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
    arbitrary: fc.record({ do: fc.constant('askBoth'), scripts: fc.tuple(whole(), whole()) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('clone', 'task') }) },
)

/** Two answers at once are not stopped one by one. */
function whole(): fc.Arbitrary<string> {
  return fc.constantFrom(...SCRIPTS.filter((letters) => !/[~!]/.test(letters)))
}

/** Returns the story that goes on: of a cloned chat that is the clone. */
export async function act(story: Story, action: Action): Promise<Story> {
  const { chat } = story
  // Everything else needs an answer to be done to.
  if (chat.head() === null && action.do !== 'upload') {
    await story.ask('script' in action ? action.script : 'RT')
    return story
  }
  switch (action.do) {
    case 'ask':
    case 'regenerate':
    case 'editQuestion':
    case 'goOn':
      await story[action.do](action.script)
      return story
    case 'suggest':
      await story.regenerate(action.script, 'Make it shorter')
      return story
    case 'upload':
      await story.ask(action.script, { [action.what]: UPLOADS[action.what] })
      return story
    case 'editAnswer':
      story.editAnswer(EDITS[action.how])
      return story
    case 'goBack': {
      const answers = [...chat.tree().values()].filter(({ kind }) => kind === 'answer')
      const answer = answers[action.to % answers.length]
      if (answer !== undefined) chat.goTo(answer.id)
      return story
    }
    case 'askBoth': {
      const [one, other] = action.scripts
      await story.askAll({ 'gpt-5': one, 'claude-opus-5': other })
      return story
    }
    case 'clone':
      return story.clone()
    case 'task':
      await chat.task('follow_up_generation', true)
      return story
  }
}

const UPLOADS = {
  image:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  document: 'The word of the day is swordfish.',
} as const
