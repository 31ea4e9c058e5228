"""Every scenario of the gallery begins in the page, and time passes in it.

`make test` begins a few, which no other test of the page opens; tests/page/test_scenarios.py and
test_classics.py look at all of them without a browser.
"""

import pytest

from labs.scenarios.catalogue import scenarios
from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, runs, said

pytestmark = [needs_browser, needs_module]


ALWAYS = ("link-sharing", "int-microburst", "firewall")
EVERY = [
    each.name if each.name in ALWAYS else pytest.param(each.name, marks=pytest.mark.nightly)
    for each in scenarios()
]


@pytest.mark.parametrize("name", EVERY)
def test_it_begins(chromium, vitrine, name):
    with opened(chromium, f"{vitrine}#open={name}") as page:
        runs(page)
        assert said(page).text_content() == "The program runs."
        began = page.evaluate("vitrine.player.toldPs")
        page.wait_for_function("(began) => vitrine.player.toldPs > began", arg=began)
