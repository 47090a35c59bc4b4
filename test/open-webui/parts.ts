/** All parts of the suite, in the order in which they run. */
import { answers } from './parts/answers.ts'
import { branches } from './parts/branches.ts'
import { copies } from './parts/copies.ts'
import { deletions } from './parts/deletions.ts'
import { long } from './parts/long.ts'
import type { Part } from './parts/part-interface.ts'
import { surfaces } from './parts/surfaces.ts'
import { unfinished } from './parts/unfinished.ts'
import { users } from './parts/users.ts'

export const PARTS: readonly Part[] = [
  answers,
  branches,
  deletions,
  unfinished,
  copies,
  users,
  long,
  surfaces,
]
