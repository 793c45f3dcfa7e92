"""Statements and what was told after them, in ten languages. Own writing; the second half was never tuned on.

A line: kind | old statement | new statement. Kinds in CAPITALS are changes that surely end the old one; all others are
traps, by which nothing may end: a question, a quotation, a condition or plan, a denial, another subject, reported
speech, a past time, more beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Pair", "pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A statement, and one that came later."""

    language: str
    kind: str
    old: str
    new: str
    tuned: bool
    """Of the half that the rules were made on."""

    @property
    def ends(self) -> bool:
        """Whether the later one ends the earlier one."""
        return self.kind.isupper()


def pairs() -> Iterator[Pair]:
    """Yield all of them."""
    for tuned, sets in ((True, _TUNED), (False, _UNSEEN)):
        for language, lines in sets.items():
            for line in lines.strip().splitlines():
                kind, old, new = (part.strip() for part in line.split("|"))
                yield Pair(language=language, kind=kind, old=old, new=new, tuned=tuned)


_TUNED = {
    "en": """
        MOVED | Anna lives in Rome | Anna moved to Oslo
        MOVED | Anna lives in Rome | Anna moved from Rome to Oslo
        SHIFTED | The launch is on 13 June | The launch is moved to 15 August
        SWITCHED | The backend uses MySQL | The backend switched from MySQL to Postgres
        INSTEAD | The race is on 19 October | The race is on 2 November instead
        NOW | The standups are on Monday | The standups are on Tuesday now
        CORRECTED | The office is at 12 Oak Road | Correction: the office is at 7 Elm Street
        ENDED | The race is on 19 October | The race is cancelled
        ENDED | Bob smokes | Bob stopped smoking
        question | Anna lives in Rome | Has Anna moved to Oslo?
        quotation | Anna lives in Rome | The sign read "Anna moved to Oslo"
        condition | Anna lives in Rome | If Anna moved to Oslo, she would rent the flat out
        denial | The launch is on 13 June | The launch has not been moved to 15 August
        other | Anna lives in Rome | Anna's sister moved from Rome to Oslo
        reported | Anna lives in Rome | Bob says Anna moved to Oslo
        past | Anna lives in Rome | Anna moved to Oslo as a child
        more | I like coffee | I like tea now
        other | Omar works at Siemens | Omar moved to the front desk at Siemens
        other | Bob is allergic to nuts | Bob switched from nuts to seeds
    """,
    "de": """
        MOVED | Ich wohne in Köln | Ich bin nach Hamburg umgezogen
        MOVED | Anna wohnt in Bonn | Anna ist von Bonn nach Trier gezogen
        SHIFTED | Der Start ist am 13. Juni | Der Start wurde auf den 15. August verschoben
        NOW | Die Besprechung ist am Montag | Die Besprechung ist jetzt am Dienstag
        ENDED | Das Rennen ist am 19. Oktober | Das Rennen wurde abgesagt
        question | Ich wohne in Köln | Bin ich nach Hamburg umgezogen?
        condition | Ich wohne in Köln | Wenn ich nach Hamburg umgezogen bin, melde ich mich
        denial | Der Start ist am 13. Juni | Der Start wurde nicht auf den 15. August verschoben
        reported | Ich wohne in Köln | Anna sagt, ich bin nach Hamburg umgezogen
        other | Das Rennen ist am 19. Oktober | Das Konzert wurde abgesagt
    """,
    "fr": """
        MOVED | J'habite à Lyon | J'ai déménagé à Lille
        SHIFTED | Le départ est le 13 juin | Le départ a été reporté au 15 août
        NOW | La réunion est le lundi | La réunion est désormais le mardi
        ENDED | La course est le 19 octobre | La course est annulée
        question | J'habite à Lyon | Est-ce que j'ai déménagé à Lille ?
        condition | La course est le 19 octobre | S'il pleut, la course est annulée
        denial | Le départ est le 13 juin | Le départ n'a pas été reporté au 15 août
        quotation | Paul habite à Lyon | Le titre était « Paul a déménagé à Lille »
    """,
    "es": """
        MOVED | Ana vive en Madrid | Ana se mudó a Sevilla
        SHIFTED | La salida es el 13 de junio | La salida fue aplazada al 15 de agosto
        NOW | La reunión es el lunes | La reunión es ahora el martes
        ENDED | Luis trabaja en Acme | Luis ya no trabaja en Acme
        question | Ana vive en Madrid | ¿Ana se mudó a Sevilla?
        condition | Ana vive en Madrid | Si Ana se mudó a Sevilla, venderá el piso
        denial | Ana vive en Madrid | Ana no se mudó a Sevilla
        denial | La cita es el 4 de marzo | La cita no fue trasladada al 11 de marzo
        reported | Ana vive en Madrid | Dicen que Ana se mudó a Sevilla
    """,
    "pt": """
        MOVED | Ana mora em Lisboa | Ana mudou-se para o Porto
        SHIFTED | A partida é no dia 13 de junho | A partida foi adiada para 15 de agosto
        NOW | A reunião é na segunda | A reunião é agora na terça
        ENDED | A corrida é no dia 19 de outubro | A corrida foi cancelada
        question | Ana mora em Lisboa | A Ana mudou-se para o Porto?
        denial | A corrida é no dia 19 de outubro | A corrida não foi cancelada
        past | Ana mora em Lisboa | Ana mudou-se para o Porto há dez anos
    """,
    "it": """
        MOVED | Anna abita a Torino | Anna si è trasferita a Bari
        SHIFTED | La partenza è il 13 giugno | La partenza è stata spostata al 15 agosto
        NOW | La riunione è lunedì | La riunione è adesso martedì
        ENDED | La gara è il 19 ottobre | La gara è stata annullata
        question | Anna abita a Torino | Anna si è trasferita a Bari?
        denial | La gara è il 19 ottobre | La gara non è stata annullata
        condition | La gara è il 19 ottobre | Se piove, la gara è annullata
    """,
    "nl": """
        MOVED | Anna woont in Utrecht | Anna is naar Breda verhuisd
        SHIFTED | De start is op 13 juni | De start is verplaatst naar 15 augustus
        NOW | De vergadering is op maandag | De vergadering is voortaan op dinsdag
        ENDED | De wedstrijd is op 19 oktober | De wedstrijd is afgelast
        question | Anna woont in Utrecht | Is Anna naar Breda verhuisd?
        denial | De wedstrijd is op 19 oktober | De wedstrijd is niet afgelast
        reported | Anna woont in Utrecht | Volgens Piet is Anna naar Breda verhuisd
    """,
    "ru": """
        MOVED | Анна живёт в Москве | Анна переехала в Казань
        SHIFTED | Старт 13 июня | Старт перенесён на 15 августа
        NOW | Встреча в понедельник | Встреча теперь во вторник
        ENDED | Гонка 19 октября | Гонка отменена
        question | Анна живёт в Москве | Анна переехала в Казань?
        denial | Гонка 19 октября | Гонка не отменена
        condition | Гонка 19 октября | Если пойдёт дождь, гонка отменена
    """,
    "ja": """
        MOVED | 私は京都に住んでいます | 私は大阪に引っ越しました
        SHIFTED | 会議は月曜日です | 会議は水曜日に変更になりました
        ENDED | 大会は10月19日です | 大会は中止になりました
        question | 会議は月曜日です | 会議は水曜日に変更になりましたか？
        denial | 会議は月曜日です | 会議は水曜日に変更されていません
        reported | 私は京都に住んでいます | 田中さんは大阪に引っ越したそうです
    """,
    "zh": """
        MOVED | 我住在北京 | 我搬到了上海
        SHIFTED | 会议在周一 | 会议改到周三
        ENDED | 比赛在10月19日 | 比赛取消了
        question | 我住在北京 | 我搬到了上海吗？
        denial | 比赛在10月19日 | 比赛没有取消
        condition | 会议在周一 | 如果会议改到周三，我就不来
    """,
}
_UNSEEN = {
    "en": """
        MOVED | Priya lives in Leeds | Priya has moved to York
        MOVED | We live in Denver | We relocated from Denver to Austin
        SHIFTED | The dentist appointment is on 4 March | The dentist appointment was postponed to 11 March
        SHIFTED | My flight is at 9:40 | My flight has been rescheduled to 13:05
        SWITCHED | I use Firefox | I switched from Firefox to Brave
        SWITCHED | The team uses Jira | The team has switched to Linear
        INSTEAD | The dinner is at seven | The dinner is at 8 instead
        NOW | Omar works at Siemens | Omar now works at Bosch
        CORRECTED | My sister's birthday is on 3 May | Correction: my sister's birthday is on 5 May
        CORRECTED | The budget is 4000 dollars | Correction: the budget is 4500 dollars
        ENDED | The picnic is on Saturday | The picnic has been called off
        ENDED | Omar plays the cello | Omar no longer plays the cello
        question | I use Firefox | Did I switch from Firefox to Brave?
        question | The picnic is on Saturday | So the picnic is cancelled?
        quotation | The picnic is on Saturday | Her note was 'the picnic has been called off'
        condition | Omar works at Siemens | Omar might have switched from Siemens to Bosch
        condition | The team uses Jira | The team wants to move from Jira to Linear
        denial | Priya lives in Leeds | Priya hasn't moved to York
        denial | The dinner is at seven | The dinner wasn't moved to eight
        other | The dentist appointment is on 4 March | The haircut was postponed to 11 March
        other | The mill pump runs at 40 percent | The harbour pump now runs at 60 percent
        other | Omar's cat eats tuna | Omar stopped eating tuna
        reported | Priya lives in Leeds | I heard that Priya moved to York
        reported | The budget is 4000 dollars | According to Kim the budget was changed to 4500 dollars
        past | We live in Denver | We moved from Denver to Austin back in 1998
        more | Omar speaks Arabic | Omar also speaks French now
        more | Priya owns a kayak | Priya now owns a canoe
        other | The kitchen is on the first floor | The bathroom is now on the first floor
        other | My flight is at 9:40 | My mother's flight has been rescheduled to 13:05
        other | The team uses Jira | The design team has switched to Linear
        condition | My flight is at 9:40 | Unless it clears up, my flight is cancelled
        condition | The picnic is on Saturday | Rain is forecast, so the picnic will be moved to Sunday
        reported | The picnic is on Saturday | Ted told me the picnic was moved to Sunday
        reported | Omar works at Siemens | Rumour has it that Omar now works at Bosch
        quotation | Priya lives in Leeds | > Priya moved to York
        denial | The team uses Jira | It is not true that the team has switched to Linear
        denial | The budget is 4000 dollars | Nobody changed the budget to 4500 dollars
        past | Omar works at Siemens | Omar switched from Siemens to Bosch in 2009 and came back
        more | The choir sings on Monday | The choir also sings on Friday now
        CORRECTED | The wifi code is 4471 | Correction: the wifi code is 4417
        ENDED | The farmers' market is on Thursday | The farmers' market was cancelled
    """,
    "de": """
        MOVED | Jonas wohnt in Kiel | Jonas ist nach Mainz umgezogen
        SHIFTED | Der Zahnarzttermin ist am 4. März | Der Zahnarzttermin wurde auf den 11. März verlegt
        SWITCHED | Wir nutzen Jira | Wir sind von Jira auf Linear umgestiegen
        CORRECTED | Das Budget ist 4000 Euro | Korrektur: Das Budget ist 4500 Euro
        NOW | Lena arbeitet bei Bosch | Lena arbeitet jetzt bei Siemens
        ENDED | Lena raucht | Lena raucht nicht mehr
        question | Jonas wohnt in Kiel | Ist Jonas nach Mainz umgezogen?
        condition | Lena raucht | Lena möchte, dass sie nicht mehr raucht
        denial | Jonas wohnt in Kiel | Jonas ist nicht nach Mainz umgezogen
        quotation | Jonas wohnt in Kiel | Auf der Karte stand „Jonas ist nach Mainz umgezogen“
        past | Jonas wohnt in Kiel | Jonas ist damals nach Mainz umgezogen
        other | Der Zahnarzttermin ist am 4. März | Der Friseurtermin wurde auf den 11. März verlegt
        reported | Lena raucht | Jonas behauptet, Lena raucht nicht mehr
        condition | Lena arbeitet bei Bosch | Falls Lena jetzt bei Siemens arbeitet, rufe ich dort an
        ENDED | Der Chor probt am Montag | Der Chor probt nicht mehr am Montag
        other | Wir nutzen Jira | Die Nachbarn sind von Jira auf Linear umgestiegen
    """,
    "fr": """
        MOVED | Claire habite à Nantes | Claire a déménagé à Brest
        SHIFTED | Le rendez-vous est le 4 mars | Le rendez-vous a été déplacé au 11 mars
        CORRECTED | Le budget est de 4000 euros | Correction : le budget est de 4500 euros
        ENDED | Paul travaille chez Renault | Paul ne travaille plus chez Renault
        question | Claire habite à Nantes | Claire a-t-elle déménagé à Brest ?
        condition | Claire habite à Nantes | Claire voudrait avoir déménagé à Brest
        denial | Claire habite à Nantes | Claire n'a jamais déménagé à Brest
        reported | Le rendez-vous est le 4 mars | Selon Paul, le rendez-vous a été déplacé au 11 mars
        other | Le rendez-vous est le 4 mars | Le concert a été déplacé au 11 mars
    """,
    "es": """
        MOVED | Marta vive en Bilbao | Marta se ha mudado a Vigo
        SHIFTED | La cita es el 4 de marzo | La cita fue trasladada al 11 de marzo
        CORRECTED | El presupuesto es de 4000 euros | Corrección: el presupuesto es de 4500 euros
        ENDED | Pablo fuma | Pablo dejó de fumar
        question | Pablo fuma | ¿Pablo dejó de fumar?
        condition | Marta vive en Bilbao | Marta quiere que digan que se ha mudado a Vigo
        denial | Pablo fuma | Pablo nunca dejó de fumar
        denial | El examen es el 9 de mayo | El examen no ha sido aplazado al 16 de mayo
        quotation | Pablo fuma | El cartel ponía «Pablo dejó de fumar»
    """,
    "pt": """
        MOVED | Rui mora em Braga | Rui se mudou para Faro
        SHIFTED | A consulta é no dia 4 de março | A consulta foi remarcada para 11 de março
        CORRECTED | O orçamento é de 4000 euros | Correção: o orçamento é de 4500 euros
        ENDED | Rui trabalha na Galp | Rui já não trabalha na Galp
        question | Rui trabalha na Galp | Rui já não trabalha na Galp?
        condition | Rui mora em Braga | Talvez Rui se mudou para Faro
        denial | Rui mora em Braga | Rui não se mudou para Faro
        reported | Rui mora em Braga | Ouvi que Rui se mudou para Faro
    """,
    "it": """
        MOVED | Luca abita a Parma | Luca si è trasferito a Lecce
        SHIFTED | La visita è il 4 marzo | La visita è stata rinviata all'11 marzo
        CORRECTED | Il preventivo è di 4000 euro | Correzione: il preventivo è di 4500 euro
        ENDED | Luca lavora alla Fiat | Luca non lavora più alla Fiat
        question | Luca abita a Parma | È vero che Luca si è trasferito a Lecce?
        condition | Luca abita a Parma | Forse Luca si è trasferito a Lecce
        denial | Luca abita a Parma | Luca non si è trasferito a Lecce
        other | La visita è il 4 marzo | La cena è stata rinviata all'11 marzo
    """,
    "nl": """
        MOVED | Sanne woont in Delft | Sanne is naar Gouda verhuisd
        SHIFTED | De afspraak is op 4 maart | De afspraak is verzet naar 11 maart
        CORRECTED | Het budget is 4000 euro | Correctie: het budget is 4500 euro
        ENDED | Sanne werkt bij Philips | Sanne werkt niet meer bij Philips
        question | Sanne werkt bij Philips | Werkt Sanne niet meer bij Philips?
        condition | Sanne woont in Delft | Misschien is Sanne naar Gouda verhuisd
        denial | De afspraak is op 4 maart | De afspraak is niet verzet naar 11 maart
        reported | Sanne woont in Delft | Piet zegt dat Sanne naar Gouda verhuisd is
    """,
    "ru": """
        MOVED | Олег живёт в Твери | Олег переехал в Самару
        SHIFTED | Приём 4 марта | Приём перенесли на 11 марта
        CORRECTED | Бюджет 4000 рублей | Исправление: бюджет 4500 рублей
        ENDED | Олег курит | Олег больше не курит
        question | Олег курит | Олег больше не курит?
        condition | Олег живёт в Твери | Возможно, Олег переехал в Самару
        denial | Олег живёт в Твери | Олег не переехал в Самару
        reported | Олег живёт в Твери | Говорят, Олег переехал в Самару
    """,
    "ja": """
        MOVED | 兄は神戸に住んでいます | 兄は奈良に引っ越しました
        SHIFTED | 診察は3月4日です | 診察は3月11日に延期されました
        CORRECTED | 予算は40万円です | 訂正：予算は45万円です
        ENDED | 試合は土曜日です | 試合は中止されました
        question | 兄は神戸に住んでいます | 兄は奈良に引っ越しましたか
        condition | 試合は土曜日です | 雨なら試合は中止になりました
        denial | 兄は神戸に住んでいます | 兄は奈良に引っ越していません
        reported | 兄は神戸に住んでいます | 母は兄が奈良に引っ越したと言っていました
    """,
    "zh": """
        MOVED | 小李住在成都 | 小李搬到了重庆
        SHIFTED | 看牙在3月4日 | 看牙推迟到3月11日
        CORRECTED | 预算是四万元 | 更正：预算是四万五千元
        ENDED | 小李在华为工作 | 小李不再在华为工作
        question | 小李在华为工作 | 小李不再在华为工作吗？
        condition | 小李住在成都 | 小李打算搬到重庆
        denial | 看牙在3月4日 | 看牙没有推迟到3月11日
        reported | 小李住在成都 | 听说小李搬到了重庆
    """,
}
