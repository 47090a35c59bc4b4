import { testLaws } from './soak.ts'

testLaws(3)
