//! The name of the CPU's model. On x86 the kernel reports it. On ARM it reports numbers (MIDR_EL1), which the table
//! below translates as lscpu(1) does.

/// The model from the text of `/proc/cpuinfo`: the first name in it or, on ARM, all models, joined by `+`. Empty if
/// there is none.
pub(super) fn cpu_model(cpuinfo: &str) -> String {
    let fields = || {
        let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        lines.map(|(key, value)| (key.trim(), value.trim()))
    };
    let named = ["model name", "uarch", "cpu"].iter().find_map(|wanted| {
        let mut found = fields().filter(|(key, value)| key == wanted && !value.is_empty());
        found.next().map(|(_, value)| value.to_owned())
    });
    if let Some(name) = named {
        return name;
    }
    let (mut implementer, mut models) = ("", Vec::new());
    for (key, value) in fields() {
        match key {
            "CPU implementer" => implementer = value,
            "CPU part" => {
                let model = arm_model(implementer, value);
                if !models.contains(&model) {
                    models.push(model);
                }
            }
            _ => {}
        }
    }
    models.join(" + ")
}

fn arm_model(implementer: &str, part: &str) -> String {
    let maker = match implementer {
        "0x41" => "ARM",
        "0x42" => "Broadcom",
        "0x43" => "Cavium",
        "0x46" => "Fujitsu",
        "0x48" => "HiSilicon",
        "0x4e" => "NVIDIA",
        "0x51" => "Qualcomm",
        "0x61" => "Apple",
        "0xc0" => "Ampere",
        other => return format!("implementer {other}, part {part}"),
    };
    let model = match (maker, part) {
        ("ARM", "0xd03") => "Cortex-A53",
        ("ARM", "0xd04") => "Cortex-A35",
        ("ARM", "0xd05") => "Cortex-A55",
        ("ARM", "0xd07") => "Cortex-A57",
        ("ARM", "0xd08") => "Cortex-A72",
        ("ARM", "0xd09") => "Cortex-A73",
        ("ARM", "0xd0a") => "Cortex-A75",
        ("ARM", "0xd0b") => "Cortex-A76",
        ("ARM", "0xd0c") => "Neoverse-N1",
        ("ARM", "0xd0d") => "Cortex-A77",
        ("ARM", "0xd40") => "Neoverse-V1",
        ("ARM", "0xd41") => "Cortex-A78",
        ("ARM", "0xd44") => "Cortex-X1",
        ("ARM", "0xd46") => "Cortex-A510",
        ("ARM", "0xd47") => "Cortex-A710",
        ("ARM", "0xd48") => "Cortex-X2",
        ("ARM", "0xd49") => "Neoverse-N2",
        ("ARM", "0xd4d") => "Cortex-A715",
        ("ARM", "0xd4e") => "Cortex-X3",
        ("ARM", "0xd4f") => "Neoverse-V2",
        ("ARM", "0xd80") => "Cortex-A520",
        ("ARM", "0xd81") => "Cortex-A720",
        ("ARM", "0xd82") => "Cortex-X4",
        ("ARM", "0xd84") => "Neoverse-V3",
        ("ARM", "0xd8e") => "Neoverse-N3",
        ("Cavium", "0x0af") => "ThunderX2",
        ("Fujitsu", "0x001") => "A64FX",
        ("HiSilicon", "0xd01") => "TaiShan-v110",
        ("Apple", "0x022") => "M1 Icestorm",
        ("Apple", "0x023") => "M1 Firestorm",
        ("Ampere", "0xac3") => "Ampere-1",
        ("Ampere", "0xac4") => "Ampere-1a",
        _ => return format!("{maker} part {part}"),
    };
    format!("{maker} {model}")
}

#[cfg(test)]
mod tests {
    use super::cpu_model;

    #[test]
    fn x86_tells_its_name_and_arm_is_named_by_its_numbers() {
        let arm = |implementer: &str, part: &str| {
            format!(
                "processor\t: 0\nCPU implementer\t: {implementer}\nCPU architecture: 8\nCPU part\t: {part}\n\n"
            )
        };
        let big_little = [
            arm("0x41", "0xd05"),
            arm("0x41", "0xd05"),
            arm("0x41", "0xd0b"),
        ];
        let cases = [
            (
                "processor\t: 0\nmodel name\t: Some CPU @ 2.60GHz\n".to_owned(),
                "Some CPU @ 2.60GHz",
            ),
            (arm("0x41", "0xd0c"), "ARM Neoverse-N1"),
            (big_little.concat(), "ARM Cortex-A55 + ARM Cortex-A76"),
            (arm("0xc0", "0xfff"), "Ampere part 0xfff"),
            (arm("0x99", "0x001"), "implementer 0x99, part 0x001"),
            (
                "processor\t: 0\nhart\t: 1\nuarch\t: sifive,u74-mc\n".to_owned(),
                "sifive,u74-mc",
            ),
            (String::new(), ""),
        ];
        for (cpuinfo, expected) in cases {
            assert_eq!(cpu_model(&cpuinfo), expected, "{cpuinfo}");
        }
    }
}
