"""When an answer says that it does not know, and commits to nothing."""

from __future__ import annotations

import pytest

from harness.facts import match_fact

ABSTAINS = """
You didn't say. What you did tell him is that $65 came out of each check, that they matched up to $1,200 a year, and that your stock was bought back for $3,450.
You never gave him a figure. You told him that you worked there until 2003 and that the match was $1,200.
It wasn't stated. The website locked you out after three tries.
There's no such balance in what you discussed. Careful with the $52,900 that was mentioned: that's Denholm's own savings.
It was never mentioned. The person to ask is Paloma Reyes at their desk.
I don't know.
N/A
Unknown.
Not mentioned.
You haven't shared that with me yet.
I'm sorry, but I don't have any record of that in our previous conversations.
I don't believe you've told me your shoe size. If you let me know, I'll remember it.
There's nothing in our conversations about a trip to Norway, so I can't say.
You never gave a balance, so I can't tell you one. Call the benefits desk at 555-0163 and ask.
I'm not sure; you never told me which school Max attends. The district office might be able to tell you.
Your middle name never came up. It should be on your passport.
That information isn't available to me. It may be in the letter from March 3, but I haven't seen it.
We talked about the lease on March 4, 2025, but the deposit was never mentioned.
I have no way of knowing that. The website was down when you tried it, and the clerk was on holiday.
I don't know your PIN. You shouldn't share it here; the bank can reset it at 555-0100.
You didn't say. What I do know is that you have two cats, Luna and Milo.
I don't have your hamster's name on file. What I do have: your cat is called Luna.
I couldn't find a figure for that. The only amounts in the call were $40 for parking and $12 for lunch.
You asked Callum about it, but he didn't have the figure at hand. He promised to look it up.
The statement couldn't be found that day, and the line was left empty.
I don't have access to that. Maybe your HR department would know.
That hasn't come up in any of our chats.
我不知道。
すみません、その情報はありません。
모르겠습니다. 언급된 적이 없습니다.
No lo sé; nunca lo mencionaste.
Je ne sais pas, vous ne m'avez jamais dit cela.
Das weiß ich leider nicht. Das wurde nie erwähnt.
Non lo so.
Não sei, você não mencionou isso.
Не знаю, вы об этом не говорили.
"""
COMMITS = """
I'm not sure. You told me that the plan is old, and that the balance is $45,000.
You never said. That amount would be $45,000.
It wasn't stated, but the one to go with is $45,000.
Biscuit
Yes.
42
Your hamster is called Biscuit.
I don't know for certain, but it's 42.
I don't know, but probably 42.
I'm not sure, maybe 42?
Not sure. 42.
I'm not certain. I'd guess blue.
You never mentioned it directly. It's Biscuit.
I don't know why you chose it, but you named your hamster Biscuit.
I don't know the exact date, but it was in March 2024.
I have no record of the exact amount, though I believe it was around $50,000.
You don't need to worry: your appointment is on March 5.
The code is 4821. I don't have anything else on file.
No worries! The hamster is called Biscuit.
Don't you remember? It's Biscuit!
I'm sorry, but I can't help with personal financial information.
No lo sé, pero creo que es 42.
我不知道，可能是42。
"""


def abstains(answer: str) -> bool:
    return match_fact(answer, {"fact": "__ABSTAIN__", "type": "abstain"}).asserted


@pytest.mark.parametrize("answer", ABSTAINS.strip().splitlines())
def test_it_abstains(answer: str) -> None:
    assert abstains(answer)


@pytest.mark.parametrize("answer", ["", " \n", *COMMITS.strip().splitlines()])
def test_it_does_not(answer: str) -> None:
    assert not abstains(answer)


def test_the_clause_that_declines_is_the_evidence() -> None:
    answer = "Let me see. You **never** gave a balance. Call them."
    found = match_fact(answer, {"fact": "__ABSTAIN__", "type": "abstain"})
    assert found.clause == "You **never** gave a balance."
    assert found.form == "abstains"
