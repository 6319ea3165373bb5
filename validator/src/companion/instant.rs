//! Instants as logs write them: a strict reader of two forms, and the proleptic Gregorian calendar.

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// The last instant of a four-digit year, 9999-12-31T23:59:59.999Z.
pub(super) const LAST_MS: i64 = 253_402_300_799_999;

/// The form of a canonical instant; a `0` stands for any digit.
const CANONICAL: &[u8] = b"0000-00-00T00:00:00.000Z";

/// The form of a date and a time of day without a zone.
const LOCAL: &[u8] = b"0000-00-00T00:00:00";

/// Why a text is no canonical instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadInstant {
    /// It has another form, or a field out of its range.
    Form,
    /// Its form is right and its month has no such day.
    Calendar,
}

/// Reads `YYYY-MM-DDTHH:MM:SS.mmmZ` of the years 0001 to 9999, in milliseconds since the epoch.
///
/// # Errors
/// Says whether the form or the calendar refuses the text.
pub(super) fn canonical(text: &[u8]) -> Result<i64, BadInstant> {
    if !has_form(text, CANONICAL) {
        return Err(BadInstant::Form);
    }
    let fields = Fields::of(text);
    let in_range = fields.year >= 1 && fields.is_dated() && fields.hour <= 23 && fields.is_timed();
    if !in_range {
        return Err(BadInstant::Form);
    }
    if fields.day > month_days(fields.year, fields.month) {
        return Err(BadInstant::Calendar);
    }
    Ok(fields.utc_ms() + i64::from(number(&text[20..23])))
}

/// Returns how many bytes of a text are a date, a time of day and a zone: `Z` or `±HH:MM`.
pub(super) fn zoned_len(text: &[u8]) -> Option<usize> {
    let (local, zone) = text.split_at_checked(LOCAL.len())?;
    if !has_form(local, LOCAL) {
        return None;
    }
    match zone.first()? {
        b'Z' => Some(LOCAL.len() + 1),
        b'+' | b'-' => {
            let offset = zone.get(1..6)?;
            has_form(offset, b"00:00").then_some(LOCAL.len() + 6)
        }
        _ => None,
    }
}

/// Reads a text that [`zoned_len`] covers whole as the host's `Date.parse` does.
///
/// A day that its month lacks runs over into the next month, and 24:00:00 is the next midnight;
/// every other field out of its range gives nothing.
pub(super) fn zoned(text: &[u8]) -> Option<i64> {
    let fields = Fields::of(text);
    let midnight = fields.hour == 24 && fields.minute == 0 && fields.second == 0;
    if !fields.is_dated() || !fields.is_timed() || (fields.hour > 23 && !midnight) {
        return None;
    }
    let offset_minutes = match text[LOCAL.len()] {
        b'Z' => 0,
        sign => {
            let (hours, minutes) = (number(&text[20..22]), number(&text[23..25]));
            if hours > 23 || minutes > 59 {
                return None;
            }
            let total = i64::from(hours * 60 + minutes);
            if sign == b'-' { -total } else { total }
        }
    };
    Some(fields.utc_ms() - offset_minutes * 60_000)
}

/// The fields of a date and a time of day.
#[derive(Clone)]
struct Fields {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
}

impl Fields {
    /// Takes the fields of a text that starts in the form of [`LOCAL`].
    fn of(text: &[u8]) -> Self {
        Self {
            year: number(&text[0..4]),
            month: number(&text[5..7]),
            day: number(&text[8..10]),
            hour: number(&text[11..13]),
            minute: number(&text[14..16]),
            second: number(&text[17..19]),
        }
    }

    fn is_dated(&self) -> bool {
        (1..=12).contains(&self.month) && (1..=31).contains(&self.day)
    }

    fn is_timed(&self) -> bool {
        self.minute <= 59 && self.second <= 59
    }

    fn utc_ms(&self) -> i64 {
        let days = month_start_days(self.year, self.month) + i64::from(self.day) - 1;
        let seconds = (self.hour * 60 + self.minute) * 60 + self.second;
        days * DAY_MS + i64::from(seconds) * 1000
    }
}

/// Returns whether a text has a form in which `0` stands for a digit and the rest for itself.
fn has_form(text: &[u8], form: &[u8]) -> bool {
    text.len() == form.len()
        && text.iter().zip(form).all(|(byte, like)| match like {
            b'0' => byte.is_ascii_digit(),
            _ => byte == like,
        })
}

/// Returns the number that a few digits stand for.
fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn month_days(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1970-01-01 to the first of a month.
fn month_start_days(year: u32, month: u32) -> i64 {
    // Leap days of the years before this one, the year 0 being a leap year.
    let leap_days = if year == 0 {
        0
    } else {
        let last = year - 1;
        last / 4 - last / 100 + last / 400 + 1
    };
    let in_year: u32 = (1..month).map(|earlier| month_days(year, earlier)).sum();
    i64::from(year * 365 + leap_days + in_year) - 719_528
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_instants_are_read_and_others_are_named() {
        let cases: [(&str, Result<i64, BadInstant>); 14] = [
            ("1970-01-01T00:00:00.000Z", Ok(0)),
            ("1969-12-31T23:59:59.999Z", Ok(-1)),
            ("2024-02-29T12:34:56.789Z", Ok(1_709_210_096_789)),
            ("0001-01-01T00:00:00.000Z", Ok(-62_135_596_800_000)),
            ("9999-12-31T23:59:59.999Z", Ok(LAST_MS)),
            ("2000-03-01T00:00:00.000Z", Ok(951_868_800_000)),
            ("1900-03-01T00:00:00.000Z", Ok(-2_203_891_200_000)),
            ("0000-01-01T00:00:00.000Z", Err(BadInstant::Form)),
            ("2024-13-01T00:00:00.000Z", Err(BadInstant::Form)),
            ("2024-01-01T24:00:00.000Z", Err(BadInstant::Form)),
            ("2024-01-01T00:00:00Z", Err(BadInstant::Form)),
            ("2024-01-01T00:00:00.000+", Err(BadInstant::Form)),
            ("2023-02-29T00:00:00.000Z", Err(BadInstant::Calendar)),
            ("2100-02-29T00:00:00.000Z", Err(BadInstant::Calendar)),
        ];
        for (text, expected) in cases {
            assert_eq!(canonical(text.as_bytes()), expected, "{text}");
        }
    }

    // The numbers are those of `Date.parse` of Node 24.
    #[test]
    fn zoned_instants_are_read_as_the_host_reads_them() {
        let cases = [
            ("2024-02-30T00:00:00Z", Some(1_709_251_200_000)),
            ("2024-02-31T00:00:00Z", Some(1_709_337_600_000)),
            ("2024-01-01T24:00:00Z", Some(1_704_153_600_000)),
            ("2024-01-01T24:00:01Z", None),
            ("2024-13-01T00:00:00Z", None),
            ("2024-01-00T00:00:00Z", None),
            ("2024-01-01T00:60:00Z", None),
            ("2024-01-01T00:00:00+23:59", Some(1_703_980_860_000)),
            ("2024-01-01T00:00:00+24:00", None),
            ("0000-01-01T00:00:00Z", Some(-62_167_219_200_000)),
            ("2023-02-29T12:00:00+02:00", Some(1_677_664_800_000)),
        ];
        for (text, expected) in cases {
            assert_eq!(zoned_len(text.as_bytes()), Some(text.len()), "{text}");
            assert_eq!(zoned(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(zoned_len(b"2024-01-01T00:00:00"), None);
        assert_eq!(zoned_len(b"2024-01-01T00:00:00+1:00"), None);
        assert_eq!(zoned_len(b"2024-01-01 00:00:00Z"), None);
    }
}
