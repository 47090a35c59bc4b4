import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { listContentParts } from '../../../src/core/media/media-handles.ts'
import { addAnswerImagesToNextQuestion } from '../../../src/context/media/add-answer-images-to-next-question.ts'
import { talk } from '../../support/talk.ts'

const { run } = addAnswerImagesToNextQuestion({ maxImages: 2 })

function renderItems(items: readonly Item[]): readonly string[] {
  return items.map((item) =>
    listContentParts(item)
      .map((part) =>
        'text' in part ? part.text : 'image_url' in part ? part.image_url : part.type,
      )
      .join(' | '),
  )
}

const ANSWER_WITH_IMAGES = talk`
  user: draw a cat
  assistant: Here it is: ![a cat](https://a/1)
`
const NOTICE = (what: string) =>
  `[Gateway notice: ${what} from the assistant’s last answer, not from the user.]`
const ONE = NOTICE('The image that follows (media_1) is')

describe('adding images of an answer to the next question (C75)', () => {
  test('images of an answer are added to a next question without images, with a notice about their origin (C81)', () => {
    const items = [...ANSWER_WITH_IMAGES, ...talk`user: make it blue`]
    const step = run(items)
    expect(renderItems(step.items).at(-1)).toBe(`${ONE} | https://a/1 | make it blue`)
    expect(step.notes).toEqual([{ did: 'changed', at: 2, why: 'images-reused' }])
  })

  test('only the last `maxImages` images of an answer are added to the next question', () => {
    const items = talk`
      assistant: ![](https://a/1) ![](https://a/2) ![](https://a/3)
      user: which?
    `
    expect(renderItems(run(items).items).at(-1)).toBe(
      `${NOTICE('The 2 images that follow (media_2, media_3) are')} | https://a/2 | https://a/3 | which?`,
    )
    expect(addAnswerImagesToNextQuestion({ maxImages: 0 }).run(items).items).toBe(items)
  })

  test('answer images that were added to a question stay there in later rounds, and are added to no later question', () => {
    const turns = talk`
      user: make it blue
      assistant: ![blue](https://a/2) It was ![before](https://a/1).
      user: and red
      assistant: No.
      user: why?
    `
    let before: readonly string[] = []
    for (let count = 1; count <= turns.length; count += 1) {
      const now = renderItems(run([...ANSWER_WITH_IMAGES, ...turns.slice(0, count)]).items)
      expect(now.slice(0, before.length)).toEqual(before)
      before = now
    }
    expect(before.join().match(/https:\/\/a\/1(?!\))/g)).toHaveLength(1)
    expect(before[4]).toContain('| https://a/2 |')
    expect(before[6]).toBe('why?')
  })

  test('answer images are not added to a question that has an image', () => {
    const image = { type: 'input_image', image_url: 'https://a/9' } as const
    const items: Item[] = [
      ...ANSWER_WITH_IMAGES,
      { type: 'message', role: 'user', content: [image] },
    ]
    expect(run(items).items).toBe(items)
  })

  test('only images of the latest answer before a question are added to it', () => {
    const items = [
      ...ANSWER_WITH_IMAGES,
      ...talk`
      assistant: Do you like it?
      user: no
    `,
    ]
    expect(run(items).items).toBe(items)
  })

  test('answer images are added even if system messages or tool outputs come before the question', () => {
    const items = [
      ...ANSWER_WITH_IMAGES,
      ...talk`
      call a
      output a done
      developer: be brief
      user: so?
      user: well?
    `,
    ]
    expect(renderItems(run(items).items).slice(-2)).toEqual([`${ONE} | https://a/1 | so?`, 'well?'])
  })
})
