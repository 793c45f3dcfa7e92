"""The words of changes in ten languages, as patterns: what announces one, and what only speaks of one. Data alone.

English, German, French, Spanish, Portuguese, Italian, Dutch, Russian, Japanese and Chinese; some Korean.
"""

from __future__ import annotations

import re
from functools import cached_property

__all__ = [
    "CANCELLED",
    "CUES",
    "FRAMES",
    "LINKING",
    "NEGATION",
    "NO_LONGER",
    "PAST",
    "SAID_ONLY",
    "SLOT",
    "TO",
    "UNSPACED",
    "Phrases",
]

UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""A script that writes words without spaces between them."""


class Phrases:
    """Patterns, any of which is looked for; compiled when the first text is read."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{one})" for one in self._patterns), re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match."""
        return self._compiled.search(text)


CUES = {
    "moved": Phrases(
        r"\b(?:has |have |'ve |'s )?(?:just |recently )?(?:moved|relocated)\b",
        r"\b(?:umgezogen|zog um|gezogen)\b",
        r"\b(?:a|ai|avons|ont) déménagé\b",
        r"\b(?:se|me|nos) (?:ha |he |hemos )?(?:mudó|mudado|mudé|mudamos|trasladó|trasladado|mudou|mudei)\b",
        r"\bmud(?:ou|ei|amos|aram)(?:-se|-me)?\b",
        r"\b(?:si è|mi sono|ci siamo) trasferit[aoei]\b",
        r"\b(?:is|ben|zijn) (?:naar .{1,40} )?verhuisd\b|\bverhuisde\b",
        r"\bпереехал[аи]?\b",
        r"引っ越し(?:まし)?た|引っ越した|移り住んだ",
        r"搬到了?|搬去了?|移居到?",
    ),
    "shifted": Phrases(
        r"\b(?:is|are|was|were|has been|have been|been|got) (?:moved|postponed|rescheduled|brought forward"
        r"|pushed back"
        r"|put off)\b",
        r"\b(?:verschoben|verlegt|vorverlegt)\b",
        r"\b(?:reporté|déplacé|avancé)e?s?\b",
        r"\b(?:aplazad|pospuest|trasladad|adelantad|adiad|remarcad|transferid|antecipad)[ao]s?\b",
        r"\b(?:spostat|rinviat|rimandat|anticipat)[aoei]\b",
        r"\b(?:verplaatst|verschoven|verzet|uitgesteld)\b",
        r"\bперенес(?:[её]н[аоы]?|ли)\b",
        r"に(?:変更|延期)(?:になり|され|し)(?:まし)?た|に変わ(?:りまし|っ)た|に延期",
        r"改到了?|改期到|推迟到了?|提前到了?|挪到了?|延期到",
    ),
    "switched": Phrases(
        r"\b(?:has |have |'ve )?(?:switched|changed|migrated)\b",
        r"\b(?:gewechselt|umgestiegen|umgestellt)\b|\bwechselte\b",
        r"\b(?:est|sommes|suis|sont) passé(?:e|s|es)?\b|\ba migré\b|\ba changé\b",
        r"\b(?:ha |he |hemos )?(?:cambi(?:ó|ado|é|amos)|migr(?:ó|ado|amos))\b|\b(?:pasó|pasé|pasamos) de\b",
        r"\b(?:trocou|troquei|trocamos|migrou|migramos|passou|passei)\b",
        r"\b(?:è|sono|siamo) passat[aoei]\b|\b(?:ha|ho|abbiamo) cambiato\b",
        r"\b(?:overgestapt|overgeschakeld|gewisseld)\b",
        r"\b(?:переш(?:ёл|ел|ла|ли)|сменил[аи]?|переключил(?:ся|ась|ись))\b",
        r"に切り替え(?:まし)?た|に乗り換え(?:まし)?た|に切り替わっ?た",
        r"换成了?|改用了?|换到了?|转用了?|切换到了?|改为|改成",
    ),
    "corrected": Phrases(
        r"^\W*(?:correction|korrektur|berichtigung|correctif|rectification|corrección|correção|correzione|rettifica"
        r"|correctie|rectificatie|исправление|поправка|訂正|更正|纠正)\s*[:：\-–—]",
    ),
    "instead": Phrases(
        r"\binstead\b(?! of)|\bstattdessen\b|\bà la place\b|\ben su lugar\b|\ben cambio\b|\bem vez disso\b"
        r"|\bal posto\b|\binvece\b|\bin plaats daarvan\b|\bвместо этого\b|代わりに|而是",
    ),
    "now": Phrases(
        r"\b(?:from now on|as of now|from today|now)\b|\b(?:ab jetzt|ab sofort|von nun an|jetzt|nun|inzwischen)\b"
        r"|\b(?:désormais|dorénavant|maintenant)\b|\b(?:a partir de ahora|ahora)\b|\b(?:a partir de agora|agora)\b"
        r"|\b(?:d'ora in poi|adesso|ora)\b|\b(?:vanaf nu|voortaan|nu)\b|\b(?:теперь|отныне)\b"
        r"|今後は|これからは|今は|から今後|现在|从现在起|今后|如今",
    ),
}
"""What announces another value, by kind of change; the first kind that is found counts."""

CANCELLED = Phrases(
    r"\b(?:is|are|was|were|has been|have been|got) (?:cancelled|canceled|called off|scrapped|abolished"
    r"|discontinued)\b",
    r"\b(?:has stopped|have stopped|stopped|quit|gave up|has given up)\b",
    r"\b(?:abgesagt|fällt aus|gestrichen|aufgehört|aufgegeben)\b",
    r"\bannulé(?:e|s|es)?\b|\ba arrêté\b|\bj['’]ai arrêté\b",
    r"\b(?:cancelad|suspendid|anulad)[ao]s?\b|\b(?:dejó|dejé|dejamos|ha dejado|he dejado) de\b",
    r"\b(?:parou|parei|deixou|deixei) de\b",
    r"\b(?:annullat|cancellat|soppress)[aoei]\b|\b(?:ha|ho) smesso di\b",
    r"\b(?:geannuleerd|afgelast|gestopt met)\b",
    r"\b(?:отмен(?:ён|ен|ена|ены|ено|или)|перестал[аи]?|бросил[аи]?)\b",
    r"中止(?:になり|され|し)(?:まし)?た|中止だ|中止です|(?:を|のを)やめ(?:まし)?た",
    r"取消了?|戒了|停止了",
)
"""What announces that something does not take place or was given up."""

NO_LONGER = Phrases(
    r"\b(?:no longer|any ?more)\b",
    r"\b(?:nicht (?:mehr|länger)|kein\w* .{0,60}\bmehr|kein\w* mehr)\b",
    r"\b(?:ne |n['’]).{1,40}? plus\b",
    r"\bya no\b",
    r"\bjá não\b|\bnão .{1,40} mais\b",
    r"\bnon .{1,40} più\b",
    r"\b(?:gaat niet door|niet (?:meer|langer)|geen .{1,60}? meer)\b",
    r"\b(?:больше не|уже не)\b",
    r"もう.{1,30}(?:ません|ない|いない)",
    r"不再|已不|已经不",
    r"더 이상",
)
"""What denies only what was so before."""

NEGATION = Phrases(
    r"\b(?:not|never|nobody|n['’]t|no one|neither|nicht|nie|niemals|kein\w*|pas|jamais|no|nunca|jamás|tampoco|não"
    r"|nem|non"
    r"|mai|niet|nooit|geen|не|никогда|ни)\b",
    r"没|未|从不|不是",
)
"""Before an announcement in its clause, it denies that."""

SAID_ONLY = Phrases(
    # questions
    r"[?？؟]",
    r"[か吗呢][。.!！]?\s*$",
    r"^\W*(?:is it true|did|does|has anyone|have you|wondering|i wonder|ob |stimmt es)\b",
    # quotations
    r"[\"“”„«»「」『』《》]|(?:^|\s)['‘‹][^'’]{3,}['’›](?:\W|$)|^\s*>",
    # conditions, wishes, plans and doubts
    r"\b(?:if|unless|whether|would|could|might|may have|should|shall|will|'ll|won't|suppose|supposing|imagine"
    r"|assuming"
    r"|in case|maybe|perhaps|possibly|probably|wants? to|wanted to|hopes? to|hoping|plans? to|planning|considers?"
    r"|considering|thinking (?:of|about)|thought (?:of|about)|going to|about to|almost|nearly|until|once|pretend"
    r"|let's"
    r"|tries to|trying to|tempted|wish(?:es)?|dream(?:s|ed|t)?|story|novel|film|movie|game|joke|example|translate)\b",
    r"\b(?:falls|wenn|sofern|würde\w*|könnte\w*|sollte\w*|wird|werden|werde|vielleicht|womöglich|möchte\w*|will"
    r"|wollen"
    r"|wollte\w*|plant|planen|überleg\w*|angenommen|beinahe|fast|hofft|träum\w*|ob|bevor|sobald)\b",
    r"\bsi\b(?! (?:è|sono|era)\b)|\b(?:s['’]il\w*|serait|pourrait|devrait|peut-être|voudrait|voudrais|veut"
    r"|envisage\w*|prévoit|imagin\w+"
    r"|presque|failli|espère|va|vont|quand|aurait|aurions|aurais|sera|rêv\w+)\b",
    r"\b(?:podría\w*|debería\w*|quizás?|tal vez|quiere\w*|quisiera\w*|planea\w*|piensa\w*|imagin\w+|casi|ojalá|cuando"
    r"|será|va a|voy a|espera\w*|habría\w*|sueña)\b",
    r"\b(?:se (?:ele|ela|a|o|eu|nós|você|as|os|não|nos)|poderia\w*|deveria\w*|talvez|quer|queria\w*|planeja\w*|pensa"
    r"|quase|tomara|quando|vai|vou|espera|seria|teria|caso|sonha)\b",
    r"\b(?:se (?:il|la|lo|l['’]|i|le|gli|non|mi|ci|anna|marco|luca|\w+ si)|potrebbe\w*|dovrebbe\w*|forse|vorrebbe"
    r"|vorrei|vuole|pensa|immagin\w+|quasi|magari|qualora|sarà|verrà|sarebbe|avrebbe|spera|sogna)\b|^\W*se\b",
    r"\b(?:als|indien|tenzij|zou\w*|misschien|wil|willen|wilde|van plan|overweegt|stel|bijna|hoopt|zal|zullen|gaat"
    r" verhuizen|of)\b",
    r"\b(?:если|бы|может|возможно|хочет|хочу|хотел\w*|планиру\w+|собира\w+|наверное|почти|когда|будет|будут|думает"
    r"|представь\w*|мечтает)\b",
    r"もし|なら|たら|れば|かもしれ|たい(?:と|。|です)|つもり|予定|かどうか|でしょう|はず|ところだった",
    r"如果|要是|假如|是否|可能|也许|或许|想要?|打算|计划|差点|将|会不会|万一|的话|考虑|希望",
    # reported speech
    r"\b(?:said|says|say|told|tells|claims?|claimed|heard|hears|rumou?rs?|reportedly|apparently|allegedly"
    r"|according to"
    r"|wrote|writes|asked|asks|believes?|thinks?|supposedly|read that|mentioned|insists?|joked)\b",
    r"\b(?:sagt\w*|meint\w*|behauptet\w*|gehört|angeblich|laut|erzählt\w*|schreibt|schrieb|fragt\w*|glaubt\w*|sei)\b",
    r"\b(?:dit|disait|prétend|affirme|paraît|raconte|selon|écrit|croit|pense|demande|entendu)\b",
    r"\b(?:dice|dijo|dicen|afirma|según|oí|escuché|cuenta|cree|pregunt\w+|escribió|supuestamente)\b",
    r"\b(?:diz|disse|dizem|alega|segundo|ouvi|contou|acha|acredita|perguntou|escreveu|supostamente)\b",
    r"\b(?:detto|dicono|sostiene|secondo|sentito|racconta|crede|chiede|scrive|pare|sembra)\b",
    r"\b(?:zegt|zei|beweert|volgens|gehoord|vertelt|vertelde|denkt|gelooft|vraagt|schrijft|naar verluidt)\b",
    r"\b(?:сказал\w*|говорят|говорит|утвержда\w+|слышал\w*|рассказал\w*|якобы|считает|спросил\w*|пишет|по словам)\b",
    r"と(?:言|話|聞|書|思|主張|述べ)|そうです|そうだ|らしい|によると|って",
    r"说|听说|据说|据|声称|认为|问|写道|以为|传言",
    # denials
    r"\b(?:not|never|n't|nobody|none) (?:\w+ ){0,3}?(?:moved|switched|changed|cancell?ed|stopped|relocated|postponed"
    r"|true|rescheduled|quit|migrated|been|called off|actually)\b|\b(?:has|have|did|was|were|is|are|do|does)n['’]t\b",
    r"\b(?:isn|hasn|haven|didn|wasn|weren|aren)['’]t\b|\bit is not true\b|\bnot the case\b|\bfalse\b|\buntrue\b"
    r"|\bdenie[sd]\b",
    r"\bnicht (?:umgezogen|gewechselt|verschoben|verlegt|abgesagt|aufgehört|umgestiegen|wahr|nach|auf|zu|von)\b"
    r"|\bnie\b"
    r"|\bniemals\b|\bnicht .{1,40}(?:gezogen|gewechselt|verschoben|verlegt|abgesagt|umgestiegen|umgezogen)\b",
    r"\b(?:n['’](?:a|ai|est|ont|avons|étaient|était)|ne (?:s['’]est|sont|suis|sommes)) (?:pas|jamais)\b|\bfaux\b",
    r"\b(?:no|nunca|jamás) (?:se |me |nos |ha |he |hemos |está |fue |es |era )?(?:mudó|mudado|cambi\w+|pasó|dejó"
    r"|dejado"
    r"|cancelad\w|aplazad\w|cierto|verdad|trasladó|trasladado|pospuest\w|migró)\b",
    r"\b(?:não|nunca) (?:se |foi |está |é |me )?(?:mudou|mudei|trocou|parou|deixou|cancelad\w|adiad\w|verdade|migrou"
    r"|mudaram)\b",
    r"\bnon (?:si è|è|ha|ho|mi sono|sono|è stat[ao]|è vero)\b(?! più\b)(?!.*\bpiù\b)|\bmai\b",
    r"\b(?:nooit|niet (?:verhuisd|overgestapt|geannuleerd|afgelast|verplaatst|verzet|gestopt|waar|naar))\b"
    r"|\bniet .{1,40}(?:verhuisd|overgestapt|geannuleerd|verplaatst|verzet)\b",
    r"\bне (?:переезжал\w*|переехал\w*|переходил\w*|переш\w+|отмен\w+|перен\w+|менял\w*|сменил\w*|бросил\w*"
    r"|перестал\w*"
    r"|правда)\b|\bникогда\b|\bнеправда\b",
    r"(?:して|て)い(?:ません|ない)。?$|(?:わけ|の)では(?:ない|ありません)|嘘|てはいません|ていません",
    r"没有?|并未|未|从未|并非|不是真",
    # past times: told of then, not of today
    r"\b(?:back in|used to|years? ago|long ago|formerly|in those days|as a child|decades? ago|last century)\b"
    r"|\b(?:damals|früher|vor (?:\w+ )?jahren|als kind|einst)\b|\b(?:autrefois|jadis|il y a .{1,15} ans"
    r"|à l['’]époque)\b"
    r"|\b(?:hace .{1,15} años|antaño|en aquel entonces|de niñ[oa])\b|\b(?:há .{1,15} anos|antigamente"
    r"|naquela época)\b"
    r"|\b(?:anni fa|un tempo|all['’]epoca|da bambin[oa])\b|\b(?:vroeger|destijds|jaar geleden|jaren geleden)\b"
    r"|\b(?:лет назад|раньше|когда-то|в детстве|тогда)\b|年前|昔|当時|子供の頃|以前|当年|从前|小时候"
    r"|\b(?:in|en|em|nel|im|au|в|since|until) (?:the )?(?:19\d\d|200\d|201\d)s?\b|(?:19\d\d|20[01]\d)年"
    r"|\b(?:19\d\d|20[01]\d) году\b",
    # more of the same, beside what there is
    r"\b(?:also|too|as well|in addition|another|second|both)\b|\b(?:auch|außerdem|zusätzlich|zweit\w*)\b"
    r"|\b(?:aussi|également|deuxième)\b|\b(?:también|además)\b|\b(?:também|além)\b|\b(?:anche|inoltre|pure)\b"
    r"|\b(?:ook|bovendien|tweede)\b|\b(?:тоже|также|втор(?:ой|ая|ое|ую|ого))\b|も(?:引|変|使)|也",
)
"""What only speaks of a change, denies it, or puts it into another time: nothing ends by it."""

PAST = Phrases(
    r"\b(?:back in (?:19|20)\d\d|used to|in those days|as a child)\b|\b(?:damals|als kind|einst)\b",
    r"\b(?:autrefois|jadis|à l['’]époque)\b|\b(?:antaño|en aquel entonces|de niñ[oa])\b",
    r"\b(?:antigamente|naquela época)\b|\b(?:un tempo|all['’]epoca|da bambin[oa])\b|\bdestijds\b",
    r"\b(?:когда-то|в детстве)\b|昔は|当時|子供の頃|当年|从前|小时候|曾经",
)
"""What tells of a time that is surely over."""

TO = Phrases(
    r"\bfrom (?P<a1>.{1,60}?) to (?P<b1>.+)",
    r"\bvon (?P<a2>.{1,60}?) (?:nach|auf|zu|zum|zur) (?P<b2>.+?)(?: (?:um)?(?:gezogen|gewechselt|verschoben|verlegt"
    r"|gestiegen|gestellt)|$)",
    r"\b(?:de |du |d['’])(?P<a3>.{1,60}?) (?:à|au|aux|a la|a las|al|a|para o|para a|para) (?P<b3>.+)",
    r"\b(?:da|dal|dalla|dall['’]) ?(?P<a4>.{1,60}?) (?:a|al|alla|all['’]) ?(?P<b4>.+)",
    r"\bvan (?P<a5>.{1,60}?) naar (?P<b5>.+?)(?: (?:verhuisd|overgestapt|verplaatst|verzet|overgeschakeld"
    r"|verschoven)|$)",
    r"\b(?:из|с|со) (?P<a6>.{1,60}?) (?:в|на) (?P<b6>.+)",
    r"(?:は|が)(?P<a7>[^は]{1,30}?)から(?P<b7>.{1,30}?)(?:に|へ)",
    r"从(?P<a8>.{1,30}?)(?:搬到|改到|换成|换到|改用|改为|转到|切换到|推迟到|提前到|挪到)了?(?P<b8>.+)",
    r"\breplaced (?P<a9>.{1,60}?) (?:with|by) (?P<b9>.+)",
    r"\binstead of (?P<a10>.{1,60})",
    r"\btroc(?:ou|amos|uei) (?P<a11>.{1,60}?) (?:por|pelo|pela) (?P<b11>.+)",
    r"\b(?:сменил[аи]?) (?P<a12>.{1,60}?) на (?P<b12>.+)",
    r"\bcambi(?:ó|amos|é|ato|ado) (?P<a13>.{1,60}?) (?:por|con|per) (?P<b13>.+)",
)
"""From what to what."""

FRAMES = {
    "aux": "wurde wurden werd werden hat haben habe heeft hebben heb",
    "be": "is are am was were be been ist sind bin est sont suis es son está están soy estoy é são estão è sono "
    "zijn ben "
    "находится at on in takes place begins starts findet liegt beginnt a lieu commence empieza começa inizia begint "
    "начинается at costs kostet coûte cuesta custa costa kost стоит 在 是 は です ます あります 位于",
    "live": "lives live living resides wohnt wohne wohnen lebt lebe habite habitons habitent vit vis vive vivo "
    "vivimos "
    "mora moro moramos abita abito abitiamo woont woon wonen живёт живет живу живём 住 住在 住んで",
    "work": "works work working arbeitet arbeite arbeiten travaille trabaja trabajo trabalha trabalho lavora "
    "lavoro werkt "
    "werk работает работаю 働 働いて 工作 上班",
    "use": "uses use using runs run benutzt benutze benutzen nutzt nutze nutzen verwendet verwende verwenden utilise "
    "utilisons utilisent usa uso usamos utiliza utilizamos utilizo utilizza utilizzo utilizziamo usiamo gebruikt "
    "gebruik "
    "gebruiken использует использую используем пользуется 使 使用 用 使って",
    "take": "drinks drink drinking trinkt trinke boit bois bebe bebo beve bevo drinkt drink пьёт пьет пью 飲 喝 "
    "rides drives "
    "drive fährt fahre conduit conduce dirige guida rijdt ездит 乗 开 pays pay zahlt paie paga pago betaalt платит",
}
"""Words that say in what way a subject has a value, by kind; they alone tell nothing apart."""

_LINKING_WORDS = """
a an and the to of for with from by as into we've has have had been just recently der die das den dem des ein
eine einen einem einer und zu zum zur von nach auf für mit im am um bei worden le la les l un une et à au aux du
de d en dans sur pour avec chez ont ai avons été sont el los las unos una y al del por para con desde ha han he
hemos fue fueron sido sus o os uma e ao da do dos no na nos nas em foi foram il lo gli i uno di dal dalla dalle
in nel nella nello su per stato stata stati state hanno ho abbiamo het een van naar op te voor met bij om и в на с
из к от для у о во со был была были было it its that this time o'clock uhr se si me mi ci 了 的 に を へ で が も と 于
到
"""
LINKING = frozenset(_LINKING_WORDS.split())
"""Words that tell nothing apart."""

SLOT = Phrases(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:montags?|dienstags?|mittwochs?|donnerstags?|freitags?"
    r"|samstags?|sonntags?|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes"
    r"|sábado|domingo|segunda|terça|quarta|quinta|sexta|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica"
    r"|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|понедельник\w*|вторник\w*|сред[ауы]|четверг\w*"
    r"|пятниц\w+|суббот\w+|воскресень\w+)\b|[月火水木金土日]曜|周[一二三四五六日天]|星期[一二三四五六日天]"
    r"|\b(?:noon|midnight|mittag|mitternacht|midi|minuit|mediodía|meio-dia|mezzogiorno|middag|полдень)\b"
    r"|[一二三四五六七八九十]{1,4}[点時月日号]",
)
"""A day, an hour or a number: what makes two values of one sort."""
